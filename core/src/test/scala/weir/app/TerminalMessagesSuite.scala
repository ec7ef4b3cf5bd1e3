package weir.app

import weir.WeirSuite

class TerminalMessagesSuite extends WeirSuite:

  test("the time that a text takes does not count to the limit for printing it"):
    @volatile var isMade = false
    def text: String =
      Thread.sleep(100) // as a dump of many fibers does
      isMade = true
      ""
    TerminalMessages.print(text, limitMillis = 10)
    assert(isMade)
