package weir.postgres.input

import java.io.ByteArrayInputStream
import weir.{Task, WeirSuite}
import weir.postgres.Position
import weir.postgres.split.Splitter

/** The end of a file that is not read to its end. */
class ScriptFileSuite extends WeirSuite:
  test("a script ends with the line of its \\q"):
    for end <- List("\\q", "\\q \\\\ SELECT 2;", "SELECT 2 \\q") do
      val bytes = s"SELECT 1;\n$end\nrest\n".getBytes
      def open() = ScriptInput(ByteArrayInputStream(bytes), _ => ())
      val file = ScriptFile(Splitter("s"), "s", true, Position.start, None, 0, open, None, None)
      Task.direct(while file.next() ne null do ()).runSync()
      assertEquals(String(file.unused), "rest\n", end)
