package weir.lab

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*

import munit.FunSuite

import weir.lab.ChildOutput.Message

/** A JVM of its own: that it starts with what it is given, and that nothing of it is left. */
class RivalJvmSuite extends FunSuite:
  private final case class Ran(isGood: Boolean, messages: Vector[Message], err: String):
    def event(key: String): String =
      messages.collectFirst { case Message.Event(json) => json(key).str }.get
    def isAlive: Boolean = ProcessHandle.of(event("pid").toLong).isPresent

  private def run(jvm: RivalJvm): Ran =
    val err = StringWriter()
    val messages = Vector.newBuilder[Message]
    val isGood = jvm.run(PrintWriter(err, true))(messages += _: Unit)
    Ran(isGood, messages.result(), err.toString)

  for system <- List("zio", "monix") do
    test(s"$system runs in a JVM with the flags it is given, and reports"):
      val ran = run(RivalJvm("ping", system, jvmFlags = Seq("-Dweir.ping=a b")))
      assert(ran.isGood, ran.err)
      assertEquals(ran.event("property"), "a b")
      val results = ran.messages.collect { case Message.Measured(result) => result }
      assertEquals(results.map(_.system), Vector(system))
      assertEquals(ran.err, "")
      assert(!ran.isAlive)

  test("what it prints that is no message goes to the user"):
    val ran = run(RivalJvm("ping", "zio", Seq("print" -> "hello")))
    assert(ran.isGood)
    assertEquals(ran.err, "zio: hello\n")

  test("a failure is a line that says why"):
    val ran = run(RivalJvm("ping", "zio", Seq("fail" -> "no luck")))
    assert(!ran.isGood)
    assert(
      ran.err.linesIterator.contains(
        "zio, ping: no result, since in 'ping': java.lang.IllegalStateException: no luck"
      ),
      ran.err
    )

  test("a JVM that cannot start is a line that says so"):
    val ran = run(RivalJvm("ping", "zio", jvmFlags = Seq("-XX:+NoSuchFlag")))
    assert(!ran.isGood)
    assert(ran.err.contains("zio, ping: no result, since its JVM ended with code 1"), ran.err)

  test("one that takes too long is killed, and a line says so"):
    val ran = run(RivalJvm("ping", "zio", Seq("sleepMillis" -> 60_000), deadline = 3.seconds))
    assert(!ran.isGood)
    assert(ran.err.contains("zio, ping: no result, since it took longer than 3 s"), ran.err)
    assert(!ran.isAlive)

  test("an error while its messages are read kills it"):
    var pid = 0L
    val started = System.nanoTime()
    interceptMessage[IllegalStateException]("enough"):
      RivalJvm("ping", "zio", Seq("sleepMillis" -> 60_000)).run(PrintWriter(StringWriter())):
        case Message.Event(json) =>
          pid = json("pid").str.toLong
          throw IllegalStateException("enough")
        case _ => ()
    assert((System.nanoTime() - started).nanos < 30.seconds)
    ProcessHandle.of(pid).ifPresent(_.onExit.get(10, TimeUnit.SECONDS): Unit)
