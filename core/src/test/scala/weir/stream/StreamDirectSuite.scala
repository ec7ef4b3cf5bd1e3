package weir
package stream

import java.util.concurrent.{CancellationException, ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.io.Source
import weir.testkit.TestRuntime

class StreamDirectSuite extends munit.ScalaCheckSuite, StreamTests:

  private val items = Gen.choose(0, 40).flatMap(n => Gen.listOfN(n, Gen.choose(0, 4)))

  private def wait(kind: Int): Task[Unit] = kind match
    case 0 => Task.cede
    case 1 => Task.sleep(20.micros)
    case _ => Task.unit

  // First, since others hang if these fail.

  test("a masked emit returns once the consumer wants no more"):
    val stream = Stream.direct[Int] { emit =>
      Task.uncancelable(_ => Task.direct(emit(1))).await
    }
    assertEquals(TestRuntime.run(stream.take(1).toList), List(1))

  test("a masked emit that waits in line returns once the consumer wants no more"):
    val stream = Stream.direct[Int] { emit =>
      Task.uncancelable(_ => Task.parForeach(1 to 3)(_ => Task.direct(emit(1)))).await
    }
    assertEquals(TestRuntime.run(stream.take(1).toList), List(1))

  test("a masked emit that begins after that returns at once"):
    val stream = Stream.direct[Int] { emit =>
      try emit(1)
      finally Task.uncancelable(_ => Task.direct(emit(2))).await
    }
    assertEquals(TestRuntime.run(stream.take(1).toList), List(1))

  test("what is in line as the block ends comes before the end"):
    val stream = Stream.direct[Int] { emit =>
      for i <- 1 to 3 do
        Task.direct(emit(i)).start.await: Unit
        Task.sleep(1.second).await
    }
    val slow = stream.evalTap(_ => Task.sleep(1.minute))
    assertEquals(TestRuntime.run(slow.toList), List(1, 2, 3))

  test("an error of the block that comes after its consumer has stopped is kept"):
    val boom, first = Boom()
    val stream = Stream.direct[Int] { emit =>
      Task.uncancelable(_ => Task.direct(emit(1)).andThen(Task.fail(boom))).await
    }
    val text = printed(assertEquals(stream.take(1).toList.runSync(), List(1)))
    assert(text.contains(boom.toString), text)
    val failed = stream.evalMap(_ => Task.fail(first)).drain.attempt
    assertEquals(printed(assertEquals(failed.runSync(), Left(first))), "")
    assertEquals(first.getSuppressed.toList, List(boom))

  property("what a block emits between its effects, one element for each emit, null too") {
    forAll(items) { items =>
      val stream = Stream.direct[Integer | Null] { emit =>
        for i <- items do
          wait(i).await
          emit(if i == 4 then null else Integer.valueOf(i))
      }
      val expected = items.map(i => if i == 4 then null else Integer.valueOf(i))
      assertEquals(stream.toList.runSync(), expected)
      assertEquals(stream.prefetchN(3).toList.runSync(), expected)
      assertEquals(stream.take(7).toList.runSync(), expected.take(7))
    }
  }

  /** The example of docs/streams.md. */
  private def mergeSorted(s: Stream[Int], that: Stream[Int]): Stream[Int] = Stream.direct { emit =>
    def merge(a: Source[Int], b: Source[Int])(using Task.Direct): Unit =
      var x = a.next()
      var y = b.next()
      while x != Source.End || y != Source.End do
        (x, y) match
          case (i: Int, j: Int) if i <= j => emit(i); x = a.next()
          case (i: Int, Source.End) => emit(i); x = a.next()
          case (_, j: Int) => emit(j); y = b.next()
          case _ => ()
    Resource.both(s.toSource, that.toSource).use((a, b) => Task.direct(merge(a, b))).await
  }

  property("two streams that are asked in turns: merged, sorted") {
    forAll(items, items) { (left, right) =>
      val merged = mergeSorted(Stream.emits(left.sorted), Stream.emits(right.sorted).prefetchN(2))
      assertEquals(merged.toList.runSync(), (left ++ right).sorted)
      assertEquals(merged.take(3).toList.runSync(), (left ++ right).sorted.take(3))
    }
  }

  test("each run has a block of its own, and loops over streams in it"):
    val stream = Stream.direct[Int] { emit =>
      var sum = 0
      for i <- Stream.emits(1 to 4).evalTap(_ => Task.cede) do
        sum += i
        if i % 2 == 0 then emit(sum)
    }
    for _ <- 1 to 3 do assertEquals(stream.toList.runSync(), List(3, 10))

  test("the block runs on when the next element is asked for, and not before"):
    TestRuntime.forAllSeeds(20) {
      Task.defer {
        val log = ConcurrentLinkedQueue[String]()
        def say(line: String): Unit = log.add(line): Unit
        val stream = Stream.direct[Int] { emit =>
          for i <- 1 to 3 do
            say(s"makes $i")
            emit(i)
          say("ends")
        }
        val used = stream.evalMap(i => Task.cede.andThen(Task(say(s"uses $i"))))
        used.drain.map { _ =>
          val lines = (1 to 3).toList.flatMap(i => List(s"makes $i", s"uses $i")) :+ "ends"
          assertEquals(log.asScala.toList, lines)
        }
      }
    }

  test("take runs the block no further than its last element, and cancels it there"):
    for _ <- 1 to 100 do
      val log = ConcurrentLinkedQueue[Int]()
      val canceled = AtomicInteger()
      val stream = Stream.direct[Int] { emit =>
        try
          for i <- 1 to 10 do
            log.add(i): Unit
            emit(i)
        finally canceled.incrementAndGet(): Unit
      }
      assertEquals(stream.take(3).toList.runSync(), List(1, 2, 3))
      assertEquals((log.asScala.toList, canceled.get), (List(1, 2, 3), 1))

  test("an error comes after the elements before it"):
    val boom = Boom()
    def failing(how: Task.Direct ?=> Unit) = Stream.direct[Int] { emit =>
      emit(1)
      emit(2)
      how
    }
    assertEquals(seen(failing(throw boom)).runSync(), List(1, 2, boom))
    assertEquals(seen(failing(Task.fail(boom).await)).runSync(), List(1, 2, boom))
    val itself = seen(failing(Task.canceled.await)).runSync()
    assertEquals(itself.take(2), List(1, 2))
    assert(itself(2).isInstanceOf[CancellationException], itself)

  test("an error of the block that a prefetch has met, and its consumer has not, is told once"):
    for _ <- 1 to Tier(20, 500) do
      val failed = CountDownLatch(1)
      val stream = Stream.direct[Int] { emit =>
        emit(1)
        failed.countDown()
        throw Boom("the block's")
      }
      val used = stream.prefetchN(4).map { i =>
        await(failed)
        Thread.sleep(1) // it is in the buffer by now, most times
        i
      }
      val bytes = java.io.ByteArrayOutputStream()
      val err = System.err
      System.setErr(java.io.PrintStream(bytes, true))
      try used.takeWhile(_ => false).drain.runSync()
      finally System.setErr(err)
      val told = "nobody is left".r.findAllIn(bytes.toString).size
      assert(told <= 1, bytes.toString)

  for (name, ahead) <- List[(String, Task[Any])](
      ("waits", Task.never),
      ("sleeps", Task.sleep(1.hour)),
      ("blocks", Task(Thread.sleep(3_600_000)))
    )
  do
    test(s"a cancel of the consumer, while the block $name, waits for the block's finalizers"):
      for _ <- 1 to Tier(20, 500) do
        val begun = CountDownLatch(1)
        val released = AtomicInteger()
        val block = Task.bracket(Task(begun.countDown()))(_ => ahead)(_ =>
          Task.cede.andThen(Task(released.incrementAndGet()).void)
        )
        val stream = Stream.direct[Int] { emit =>
          emit(1)
          block.await: Unit
        }
        val fiber = stream.drain.start.runSync()
        await(begun)
        fiber.cancel.runSync()
        assertEquals(released.get, 1)

  test("fibers that the block waits for may emit: every element comes once"):
    for _ <- 1 to Tier(50, 2_000) do
      val stream = Stream.direct[Int] { emit =>
        Task.parForeach(0 until 8)(i => Task.direct { for j <- 0 until 5 do emit(i * 5 + j) }).await
      }
      assertEquals(stream.toList.runSync().sorted, (0 until 40).toList)
      assertEquals(stream.take(9).toList.runSync().distinct.size, 9)

  test("a consumer that stops lets fibers that wait to emit go, also where they are masked"):
    for _ <- 1 to Tier(50, 2_000) do
      val begun, over = AtomicInteger()
      val stream = Stream.direct[Int] { emit =>
        val emits = Task.bracket(Task(begun.incrementAndGet()))(_ => Task.direct(emit(1)))(_ =>
          Task(over.incrementAndGet()).void
        )
        val masked = Task.uncancelable(_ => emits)
        Task.parForeach(List(emits, masked, emits, masked))(identity).await
      }
      assertEquals(stream.take(1).toList.runSync(), List(1))
      assertEquals(over.get, begun.get)

  test("a finalizer of the block that emits, when nobody asks any more, does not wait"):
    val ran = AtomicInteger()
    val stream = Stream.direct[Int] { emit =>
      try emit(1)
      finally
        Task
          .uncancelable(_ => Task.direct(emit(2)))
          .guarantee(Task(ran.incrementAndGet()).void)
          .await
    }
    assertEquals(stream.take(1).toList.runSync(), List(1))
    assertEquals(ran.get, 1)

  test("an emit after the end of the block fails, and says why"):
    var kept: Stream.Emitter[Int] | Null = null
    val stream = Stream.direct[Int] { emit =>
      kept = emit
      emit(1)
    }
    assertEquals(stream.toList.runSync(), List(1))
    val late = Task.direct(kept.nn(2)).attempt.runSync()
    assert(late.left.exists(_.getMessage.contains("after the block had ended")), late)

  test("a block that emits in a loop without waiting can be cancelled"):
    val stream = Stream.direct[Int](emit => while true do emit(1))
    val counted = AtomicInteger()
    val fiber = stream.evalMap(_ => Task(counted.incrementAndGet())).drain.start.runSync()
    eventually("elements")(counted.get > 1000)
    fiber.cancel.runSync()

  test("the block sees the task locals of the consumer"):
    val local = TaskLocal.unsafe("outer")
    val stream = Stream.direct[String](emit => emit(local.get.await))
    assertEquals(local.locally("inner")(stream.toList).runSync(), List("inner"))
