package weir
package stream

import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** `mapWithResource`: one resource, from the first element to the end of the stream. */
class MapWithResourceSuite extends StreamTests:
  private val boom = Boom()

  private def resource(log: Log): Resource[Int] =
    Resource.makeCase(log("+r").as(10)) { (_, outcome) =>
      outcome match
        case Outcome.Succeeded(_) => log("-r")
        case Outcome.Failed(error) => log(s"-r $error")
        case Outcome.Canceled => log("-r canceled")
    }

  private def sums(log: Log, s: Stream[Int]): Stream[Int] =
    s.mapWithResource(resource(log))(_ + _)

  test("f of the resource and each element; it is acquired once for each run, and released once"):
    val log = Log()
    val s = sums(log, log.resource("s")(Stream(1, 2, 3)))
    for _ <- 1 to 2 do assertEquals(s.evalTap(i => log(s"$i")).toList.runSync(), List(11, 12, 13))
    val once = List("+s", "+r", "11", "12", "13", "-r", "-s")
    assertEquals(log.lines, once ++ once)
    assertEquals(s.toList.both(s.toList).runSync(), (List(11, 12, 13), List(11, 12, 13)))

  test("no element, no resource"):
    val log = Log()
    for s <- List(Stream.empty, Stream.fail(boom), Stream.eval(Task.fail(boom))) do
      sums(log, s).drain.attempt.runSync(): Unit
    sums(log, Stream(1)).take(0).drain.runSync()
    assertEquals(log.lines, Nil)

  test("released where the consumer stops, where it fails, and after an error upstream or of f"):
    val log = Log()
    sums(log, Stream.constant(1)).take(2).drain.runSync()
    sums(log, Stream.constant(1)).evalMap(_ => Task.fail(boom)).drain.attempt.runSync(): Unit
    sums(log, Stream(1) ++ Stream.fail(boom)).drain.attempt.runSync(): Unit
    Stream(1).mapWithResource(resource(log))((_, _) => throw boom).drain.attempt.runSync(): Unit
    val failed = List("+r", s"-r $boom")
    assertEquals(log.lines, List("+r", "-r") ++ failed ++ failed ++ failed)

  test("an error of acquiring is the stream's; one of releasing comes when the stream is over"):
    val log = Log()
    val broken: Resource[Int] = Resource.eval(Task.fail(boom))
    val failing = log.resource("s")(Stream(1)).mapWithResource(broken)(_ + _)
    assertEquals(failing.toList.attempt.runSync(), Left(boom))
    val late = Resource.make(Task.pure(1))(_ => Task.fail(boom))
    val released = log.resource("t")(Stream(1)).mapWithResource(late)(_ + _)
    assertEquals(released.toList.attempt.runSync(), Left(boom))
    assertEquals(log.lines, List("+s", "-s", "+t", "-t"))

  test("cancelled before the first element, while it is acquired, and after that"):
    def canceled(s: Log => Stream[Int]): List[String] =
      val log = Log()
      TestRuntime.run(s(log).drain.start.flatMap(fiber => Task.sleep(1.second) >> fiber.cancel))
      log.lines
    assertEquals(canceled(log => sums(log, Stream.never)), Nil)
    val waits: Resource[Int] = Resource.eval(Task.never)
    val half = (log: Log) => resource(log).flatMap(_ => waits)
    assertEquals(
      canceled(log => Stream(1).mapWithResource(half(log))(_ + _)),
      List("+r", "-r canceled")
    )
    assertEquals(
      canceled(log => sums(log, Stream(1) ++ Stream.never)),
      List("+r", "-r canceled")
    )

  test("a task that f makes runs while the resource is open"):
    val log = Log()
    val s = Stream(1, 2).mapWithResource(resource(log))((r, i) => log(s"$i").as(r + i))
    assertEquals(s.evalMap(identity).toList.runSync(), List(11, 12))
    assertEquals(log.lines, List("+r", "1", "2", "-r"))

  test("take(n) makes no element more"):
    val log = Log()
    val s = Stream.range(0, 9).evalTap(i => log(s"$i"))
    assertEquals(
      s.prefetchN(4).mapWithResource(Resource.pure(1))(_ + _).take(2).toList.runSync(),
      List(1, 2)
    )
    assertEquals(log.lines, List("0", "1"))
