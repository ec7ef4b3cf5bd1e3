package weir.runtime

import java.util.concurrent.atomic.{AtomicInteger, AtomicIntegerArray, AtomicLong}
import scala.concurrent.duration.*
import weir.{Tier, WeirSuite}

class RingSuite extends WeirSuite:

  /** A thread that finds the ring full, or empty, waits for its turn on the machine. */
  override def limit: FiniteDuration = 60.seconds

  private final class Numbered(val producer: Int, val number: Int) extends Job:
    def runSlice(executionThread: ExecutionThread): Unit = ()

  private def number(job: Job | Null): Int = job match
    case numbered: Numbered => numbered.number
    case _ => -1

  for capacity <- List(2, 4, 8, 64) do
    test(s"a ring of $capacity gives jobs back in order, and refuses one more than it holds"):
      val ring = Ring(capacity)
      for round <- 0 until 10 do
        assert(ring.isEmpty)
        assertEquals(number(ring.poll()), -1)
        for i <- 0 until capacity do assert(ring.push(Numbered(0, i)), s"round $round, push $i")
        assert(!ring.push(Numbered(0, 99)))
        assert(!ring.isEmpty)
        for i <- 0 until capacity do assertEquals(number(ring.poll()), i)

  test("capacities that are no power of two, or below 2, are refused with their value"):
    for capacity <- List(-4, 0, 1, 3, 6, 100) do
      val error = intercept[IllegalArgumentException](Ring(capacity))
      assert(error.getMessage.contains(s"was $capacity"), error.getMessage)

  test("it behaves as a queue of bounded length under any calls"):
    val random = scala.util.Random(17)
    for capacity <- List(2, 4, 16) do
      val ring = Ring(capacity)
      val model = scala.collection.mutable.Queue[Int]()
      for i <- 1 to 100_000 do
        if random.nextInt(100) < 52 then
          val fits = model.size < capacity
          assertEquals(ring.push(Numbered(0, i)), fits)
          if fits then model += i
        else assertEquals(number(ring.poll()), if model.isEmpty then -1 else model.dequeue())
        assertEquals(ring.isEmpty, model.isEmpty)

  for
    capacity <- List(2, 4, 64)
    (producers, consumers) <- List((1, 1), (2, 2), (4, 1), (1, 4), (4, 4))
  do
    test(s"$producers threads push and $consumers poll a ring of $capacity: none lost, none twice"):
      val each = Tier(8_000, 20_000)
      val ring = Ring(capacity)
      val seen = AtomicIntegerArray(producers * each)
      val left = AtomicInteger(producers * each)
      val disorder = AtomicLong()
      val pushing = (0 until producers).map { p =>
        Thread.ofPlatform().start { () =>
          for i <- 0 until each do
            val job = Numbered(p, i)
            while !ring.push(job) do Thread.`yield`()
        }
      }
      val polling = (0 until consumers).map { _ =>
        Thread.ofPlatform().start { () =>
          val last = Array.fill(producers)(-1)
          while left.get > 0 do
            ring.poll() match
              case job: Numbered =>
                seen.incrementAndGet(job.producer * each + job.number): Unit
                left.decrementAndGet(): Unit
                // Each consumer sees the jobs that one producer pushed in order, however many
                // consumers there are.
                if job.number <= last(job.producer) then disorder.incrementAndGet(): Unit
                last(job.producer) = job.number
              case _ => Thread.`yield`()
        }
      }
      (pushing ++ polling).foreach(_.join())
      assert((0 until producers * each).forall(seen.get(_) == 1))
      assertEquals(disorder.get, 0L)
      assert(ring.isEmpty)
      assertEquals(number(ring.poll()), -1)

  test("a push at the end of the thread's stack adds its job, or fails before it has begun"):
    // Interpreted, as code is at first: compiled, the steps of a push hardly need any stack.
    val (output, code) = WeirSuite.child("weir.runtime.RingAtStackEnd", "-Xint")
    assertEquals(
      (output.linesIterator.toList, code),
      (List("200 rings gave back what they took"), 0)
    )
