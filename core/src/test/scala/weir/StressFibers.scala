package weir

import java.util.SplittableRandom
import java.util.concurrent.{ConcurrentLinkedQueue, LinkedBlockingQueue}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.Promise
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** Fibers that do everything a fiber can, at random, and count what happens to each of them.
  *
  * The actions of a fiber follow from its seed alone; a child's seed comes from its parent's random
  * numbers. So a seed gives the same program again, but not the same interleaving.
  */
final class StressFibers(runtime: WeirRuntime):
  private given WeirRuntime = runtime

  /** One started fiber, and the events that were seen of it. */
  final class Track(val seed: Long):
    val begun, released = AtomicInteger()
    @volatile var fiber: Fiber[Any] | Null = null
    @volatile var doing = "nothing yet"
    private val running = AtomicBoolean()
    private var step = 0

    /** `body` as the next piece of this fiber's code. Tells if two threads run the fiber at once.
      */
    def piece[A](name: String)(body: => A): Task[A] = Task.defer {
      val mine = step + 1
      if !running.compareAndSet(false, true) then wrong(s"$this: run by two threads, in $name")
      doing = name
      step = mine
      try Task.pure(body)
      finally
        if step != mine then wrong(s"$this: step $mine became $step, in $name")
        running.set(false)
    }

    override def toString =
      s"fiber with seed $seed (begun ${begun.get}, released ${released.get}, $doing)"

  private val tracks = ConcurrentLinkedQueue[Track]()
  private val errors = ConcurrentLinkedQueue[String]()
  private def wrong(what: String): Unit = errors.add(what): Unit

  /** Runs `count` fibers with all that they start. Returns the number of all fibers, and the
    * faults.
    */
  def wave(seed: Long, count: Int): (Int, List[String]) =
    val random = SplittableRandom(seed)
    val seeds = List.fill(count)(random.nextLong())
    Task.foreach(seeds)(spawn(_, 3)).start.flatMap(_.joinOrFail).runSync()
    // A fiber may start others until it ends, so the queue grows while it is read.
    var number = 0
    while !tracks.isEmpty do
      val track = tracks.peek()
      val outcome = track.fiber.nn.join.runSync()
      tracks.poll(): Unit
      number += 1
      check(track, outcome)
    (number, errors.asScala.toList)

  /** Fibers that have not ended, as far as is known. */
  def unfinished: String = tracks.asScala.take(20).mkString("\n")

  private def check(track: Track, outcome: Outcome[Any]): Unit =
    if track.released.get != 1 then wrong(s"$track: finalizer ran ${track.released.get} times")
    if track.begun.get > 1 then wrong(s"$track: begun ${track.begun.get} times")
    outcome match
      case Outcome.Canceled | Outcome.Failed(_: StressFibers.Expected) => ()
      case Outcome.Failed(_: java.util.concurrent.CancellationException) => ()
      case Outcome.Failed(error) =>
        wrong(s"$track: failed with $error at ${error.getStackTrace.take(4).toList}")
      case Outcome.Succeeded(_) =>
        if track.begun.get != 1 then wrong(s"$track: succeeded without having begun")

  /** Starts a fiber. It is known before anybody can cancel it or its parent. */
  private def spawn(seed: Long, depth: Int): Task[Fiber[Any]] = Task.defer {
    val track = Track(seed)
    val random = SplittableRandom(seed)
    val body = track
      .piece("begin")(track.begun.incrementAndGet())
      .andThen(steps(track, random, depth, 1 + random.nextInt(8)))
      .guarantee(Task(track.released.incrementAndGet()).void)
    Task.uncancelable { _ =>
      body.start.map { fiber =>
        track.fiber = fiber
        tracks.add(track): Unit
        fiber
      }
    }
  }

  private def steps(track: Track, random: SplittableRandom, depth: Int, left: Int): Task[Any] =
    if left == 0 then Task.unit
    else Task.defer(step(track, random, depth)).andThen(steps(track, random, depth, left - 1))

  private def step(track: Track, random: SplittableRandom, depth: Int): Task[Any] =
    def micros(most: Int) = random.nextInt(most).micros
    def child = spawn(random.nextLong(), depth - 1)
    def inside(name: String) = track.piece(name)(())
    random.nextInt(if depth == 0 then 10 else 18) match
      case 0 | 1 => track.piece("compute")(spin(random.nextInt(20_000)))
      case 2 => inside("cede").andThen(Task.cede)
      case 3 => inside("sleep").andThen(Task.sleep(micros(500)))
      case 4 => track.piece("block")(Thread.sleep(0, random.nextInt(300_000)))
      case 5 => inside("promise").andThen(promised(random.nextInt(3)))
      case 6 => inside("fail").andThen(Task.fail(StressFibers.Expected()).attempt)
      case 7 => inside("timeout").andThen(Task.sleep(micros(300)).timeout(micros(300)).attempt)
      case 8 =>
        inside("mask").andThen(
          Task.uncancelable(poll =>
            Task.cede.andThen(poll(Task.sleep(micros(100)))).andThen(Task.cede)
          )
        )
      case 9 =>
        random.nextInt(8) match
          case 0 => inside("die").andThen(Task.fail(StressFibers.Expected()))
          case 1 => inside("cancel itself").andThen(Task.canceled)
          case _ => track.piece("yield")(Thread.`yield`())
      case 10 | 11 => inside("fork and join").andThen(child.flatMap(_.join))
      case 12 => inside("fork").andThen(child)
      case 13 | 14 =>
        val wait = List(Task.unit, Task.cede, Task.sleep(micros(300)))(random.nextInt(3))
        inside("fork and cancel").andThen(child.flatMap(fiber => wait.andThen(fiber.cancel)))
      case 15 =>
        val seeds = List.fill(4)(random.nextLong())
        val bound = 1 + random.nextInt(4)
        inside("parTraverse").andThen(Task.parTraverseN(bound)(seeds)(small).attempt)
      case 16 =>
        val seeds = (random.nextLong(), random.nextLong())
        inside("race").andThen(Task.race(small(seeds._1), small(seeds._2)).attempt)
      case _ =>
        val task = small(random.nextLong())
        track.piece("nested runSync") {
          try task.runSync(): Unit
          catch case _: StressFibers.Expected => ()
        }

  /** A child that is not a fiber of its own. */
  private def small(seed: Long): Task[Any] =
    val random = SplittableRandom(seed)
    random.nextInt(6) match
      case 0 => Task(spin(random.nextInt(5000)))
      case 1 => Task.sleep(random.nextInt(200).micros)
      case 2 => Task(Thread.sleep(0, random.nextInt(100_000)))
      case 3 => Task.cede.andThen(Task.cede)
      case 4 => Task.fail(StressFibers.Expected())
      case _ => promised(random.nextInt(3))

  /** A wait that a fiber, a virtual thread, or a value in a blocking queue ends. */
  private def promised(by: Int): Task[Any] = Task.defer {
    val promise = Promise[Unit]()
    by match
      case 0 => Task(promise.success(())).start.andThen(Task.fromFuture(promise.future))
      case 1 =>
        Task.async[Unit](done => Thread.startVirtualThread(() => done(Right(()))): Unit)
      case _ =>
        val queue = LinkedBlockingQueue[Int]()
        Task(queue.put(1)).start.andThen(Task(queue.take()))
  }

  private def spin(nanos: Int): Unit =
    val end = System.nanoTime() + nanos
    while System.nanoTime() < end do Thread.onSpinWait()

object StressFibers:
  final class Expected extends RuntimeException("expected", null, true, false)
