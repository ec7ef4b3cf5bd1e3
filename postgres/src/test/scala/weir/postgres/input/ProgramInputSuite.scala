package weir.postgres.input

import java.io.InputStream
import weir.WeirSuite

/** The output of a program is read to its end, and an end is never a failure. */
class ProgramInputSuite extends WeirSuite:
  private def program(text: String) = ProgramInput(List(text, "."))

  /** Reads at most `most` bytes, and returns their number. */
  private def count(input: InputStream, most: Int = Int.MaxValue): Int =
    val block = new Array[Byte](4096)
    var all, read = 0
    while read >= 0 && all < most do
      all += read
      read = input.read(block, 0, block.length.min(most - all))
    all

  test("a thread that has read and ended leaves the rest to the next one"):
    val input = program("head -c 300000 /dev/zero")
    val first = Thread.ofPlatform().start(() => assertEquals(count(input, most = 10), 10))
    first.join()
    // A pipe of java.io looks once a second if the thread that has read lives.
    Thread.sleep(1200)
    assertEquals(count(input), 300000 - 10)
    assertEquals(input.exitCode(), 0)

  test("a process that goes on after the shell is read to its end"):
    val input = program("(echo 1; sleep 0.3; echo 2; sleep 0.1; echo 3) &")
    assertEquals(String(input.readAllBytes()), "1\n2\n3\n")
    assertEquals(input.exitCode(), 0)

  test("the end stays the end"):
    val input = program("echo 1; exit 3")
    assertEquals(String(input.readAllBytes()), "1\n")
    assertEquals(input.read(), -1)
    assertEquals(input.exitCode(), 3)

  test("a close ends a program that goes on to write"):
    val input = program("exec yes")
    assertEquals(count(input, most = 10), 10)
    input.close()
    assertEquals(input.exitCode(), 128 + 13)
