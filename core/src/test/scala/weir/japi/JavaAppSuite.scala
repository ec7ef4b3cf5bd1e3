package weir
package japi

import scala.concurrent.duration.*
import weir.app.AppProcess

/** A program in Java, as the process around it shows it. */
class JavaAppSuite extends WeirSuite:
  override def limit: FiniteDuration = 40.seconds

  private def app(scenario: String)(body: AppProcess => Unit): Unit =
    val process = AppProcess(scenario, 20_000, "weir.japi.JavaAppUser")
    try body(process)
    finally process.close()

  test("SIGTERM releases the resources, and the exit code is 143"):
    assume(AppProcess.hears("TERM"), "SIGTERM is ignored here")
    app("endless"): process =>
      assert(process.prints("open"))
      process.signal("TERM")
      assertEquals((process.rest(), process.exitCode()), (List("closed"), 143))

  test("an exit code ends the process with that, a failure with 1 and its trace"):
    app("code")(process =>
      assertEquals((process.rest(), process.exitCode()), (List("open", "closed"), 3))
    )
    app("failure"): process =>
      assertEquals((process.rest(), process.exitCode()), (Nil, 1))
      assert(process.stderr().contains("out of luck"), process.stderr())
