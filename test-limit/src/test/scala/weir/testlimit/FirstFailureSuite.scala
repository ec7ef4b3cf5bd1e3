package weir.testlimit

import java.nio.file.Path
import munit.FunSuite
import scala.concurrent.duration.*

class FirstFailureSuite extends FunSuite:
  override def munitTimeout: Duration = 2.minutes

  /** The exit code of a JVM that runs `suite`, and the names that it has printed. */
  private def run(suite: Class[?]): (Int, List[String]) =
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val classPath = sys.props("java.class.path")
    val main = FirstFailure.getClass.getName.stripSuffix("$")
    val command = Seq(java, "-XX:TieredStopAtLevel=1", "-cp", classPath, main, suite.getName)
    val process = ProcessBuilder(command*).start()
    val lines = String(process.getInputStream.readAllBytes).linesIterator.toList
    (process.waitFor(), lines.collect { case s"FAILED: $name" => name })

  test("a test in which nothing runs any more fails"):
    val name = s"hangs(${classOf[OneHangs].getName}), in which nothing ran any more"
    assertEquals(run(classOf[OneHangs]), (1, List(name)))

  test("tests that end are no failure"):
    assertEquals(run(classOf[OneIsQuick]), (0, Nil))
