package weir.lab

import java.io.{BufferedReader, InputStreamReader}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*

import munit.FunSuite

import weir.lab.ChildOutput.Message

/** Checks that nothing is left of a measuring JVM when the program that started it ends, by a
  * signal or by a kill.
  */
class ChildrenSuite extends FunSuite:
  override def munitTimeout: Duration = 1.minute

  // Not INT: a shell that starts the tests in the background has it ignored, for their children
  // too.
  for signal <- List("TERM", "KILL") do
    test(s"no measuring JVM outlives a program that gets $signal"):
      val program = start()
      val lines = BufferedReader(InputStreamReader(program.getInputStream))
      val pid = Iterator
        .continually(lines.readLine())
        .takeWhile(_ != null)
        .flatMap(ChildOutput.parse)
        .collectFirst { case Message.Event(json) => json("pid").str.toLong }
        .get
      val child = ProcessHandle.of(pid).get
      ProcessBuilder("kill", s"-$signal", program.pid.toString).start().waitFor(): Unit
      assert(program.waitFor(20, TimeUnit.SECONDS), "the program did not end")
      val _ = child.onExit.get(20, TimeUnit.SECONDS)

  private def start(): Process =
    val command = Seq(Children.java, s"-Dweir.lab=${sys.props("weir.lab")}", "-cp") ++
      Seq(sys.props("java.class.path"), "weir.lab.Sleeper")
    ProcessBuilder(command*).redirectError(ProcessBuilder.Redirect.DISCARD).start()

/** A program that has started a measuring JVM, which would sleep for a minute. */
object Sleeper:
  def main(args: Array[String]): Unit =
    val err = java.io.PrintWriter(System.err, true)
    val _ = RivalJvm("ping", "zio", Seq("sleepMillis" -> 60_000)).run(err): message =>
      println(ujson.write(message.toJson))
