package weir
package stream

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.duration.*

class StreamAsyncSuite extends StreamTests:

  /** Something that is listened to. */
  private final class Events[A]:
    val listener = AtomicReference[Stream.Emit[A] | Null]()
    val acquired, released = AtomicInteger()
    def emit: Stream.Emit[A] = listener.get.nn

    def stream(bound: Int, overflow: Overflow = Overflow.Fail)(
        atOnce: Stream.Emit[A] => Unit = _ => ()
    ): Stream[A] = Stream.async[A](bound, overflow) { emit =>
      Resource.make(Task {
        acquired.incrementAndGet(): Unit
        atOnce(emit)
        listener.set(emit)
      })(_ => Task(released.incrementAndGet()).void)
    }

    def isBegun(): Unit = eventually("listening")(listener.get ne null)

  test("the elements given while it registers, then those of other threads, then the end"):
    val events = Events[Int | Null]()
    val stream = events.stream(4) { emit =>
      assert(emit(1))
      assert(emit(null))
    }
    val fiber = stream.toList.start.runSync()
    events.isBegun()
    val threads = Thread.ofPlatform.start(() => { events.emit(2): Unit; events.emit.end() })
    threads.join()
    assertEquals(fiber.join.runSync().get, List(1, null, 2))
    assert(!events.emit(3), "an element after the end")
    assertEquals((events.acquired.get, events.released.get), (1, 1))

  test("every element of many threads comes once, each thread's in order"):
    val events = Events[(Int, Int)]()
    val each = Tier(2_000, 200_000)
    val fiber = events.stream(4 * each)().take(4L * each).toList.start.runSync()
    events.isBegun()
    val threads = (0 until 4).map(t =>
      Thread.ofPlatform.start(() => for i <- 0 until each do assert(events.emit((t, i))))
    )
    threads.foreach(_.join())
    val elements = fiber.join.runSync().get
    for t <- 0 until 4 do assertEquals(elements.collect { case (`t`, i) => i }, List.range(0, each))

  for (overflow, expected) <- List(
      Overflow.DropNewest -> List(1, 2),
      Overflow.DropOldest -> List(4, 5)
    )
  do
    test(s"a full buffer: $overflow"):
      val events = Events[Int]()
      val accepted = AtomicInteger()
      val stream = events.stream(2, overflow) { emit =>
        for i <- 1 to 5 do if emit(i) then accepted.incrementAndGet(): Unit
        emit.end()
      }
      assertEquals(stream.toList.runSync(), expected)
      assertEquals(accepted.get, if overflow == Overflow.DropOldest then 5 else 2)

  test("a full buffer fails the stream, after what was in it"):
    val events = Events[Int]()
    val stream = events.stream(2)(emit => for i <- 1 to 5 do emit(i): Unit)
    seen(stream).runSync() match
      case List(1, 2, error: BufferOverflow) =>
        assert(error.getMessage.contains("the buffer of 2 elements was full"), error.getMessage)
      case other => fail(other.toString)
    assertEquals(events.released.get, 1)

  test("an error of the callbacks comes after the elements before it; the first end holds"):
    val boom = Boom()
    val events = Events[Int]()
    val stream = events.stream(2) { emit =>
      assert(emit(1))
      emit.fail(boom)
      emit.end()
    }
    assertEquals(seen(stream).runSync(), List(1, boom))

  test("an error of the registration is the stream's"):
    val boom = Boom()
    val stream = Stream.async[Int](1)(_ => Resource.eval(Task.fail(boom)))
    assertEquals(seen(stream).runSync(), List(boom))

  test("released once after take, an error downstream, and a cancel while it waits"):
    val events = Events[Int]()
    val one = events.stream(2)(emit => assert(emit(1)))
    assertEquals(one.take(1).toList.runSync(), List(1))
    assertEquals(events.released.get, 1)
    val boom = Boom()
    assertEquals(one.evalMap(_ => Task.fail(boom)).drain.attempt.runSync(), Left(boom))
    assertEquals(events.released.get, 2)
    events.listener.set(null)
    val fiber = one.drain.start.runSync()
    events.isBegun()
    fiber.cancel.timeout(10.seconds).runSync()
    assertEquals((events.acquired.get, events.released.get), (3, 3))

  test("emit is false once the stream is over, also while what was registered is released"):
    val atRelease = AtomicReference[Option[Boolean]](None)
    val emitted = AtomicReference[Stream.Emit[Int]]()
    val stream = Stream.async[Int](8) { emit =>
      emitted.set(emit)
      assert(emit(1))
      Resource.make(Task.unit)(_ => Task(atRelease.set(Some(emit(2)))))
    }
    assertEquals(stream.take(1).toList.runSync(), List(1))
    assertEquals((atRelease.get, emitted.get()(3)), (Some(false), false))
    val failing = Stream.async[Int](8) { emit =>
      emitted.set(emit)
      Resource.eval(Task.fail(Boom()))
    }
    assert(failing.drain.attempt.runSync().isLeft)
    assert(!emitted.get()(1))

  test("a bound below 1 is refused"):
    val error = intercept[IllegalArgumentException](Stream.async[Int](0)(_ => Resource.unit))
    assert(error.getMessage.contains("the bound was 0"), error.getMessage)
