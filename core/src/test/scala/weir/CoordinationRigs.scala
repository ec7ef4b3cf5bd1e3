package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong, AtomicReference}
import scala.concurrent.duration.*
import weir.std.CircuitBreaker.State
import weir.std.{Cache, CircuitBreaker, CircuitOpen, KeyedMutex, RateLimiter}
import weir.testkit.VirtualClock

/** One at a time is inside of each key, and no key is left. */
private final class KeyedMutexRig extends PrimitiveRig("KeyedMutex"):
  private val keys = 3
  private val mutex = KeyedMutex.unsafe[Int]()
  private val counts = Array.fill(keys)(0L) // each guarded by its key
  private val inside, done = Array.fill(keys)(AtomicLong())

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val key = random.nextInt(keys)
    val enter = Task {
      val now = inside(key).incrementAndGet()
      if now != 1 then wrong(s"$now at once are inside of the key $key")
      counts(key)
    }
    val leave = Task(inside(key).decrementAndGet()).void
    mutex.withLock(key)(
      Task.uncancelable(poll =>
        enter
          .flatMap(count =>
            poll(sometimes(random)).map { _ =>
              counts(key) = count + 1
              done(key).incrementAndGet(): Unit
            }
          )
          .onCancel(leave)
          .andThen(leave)
      )
    )

  def finish()(using WeirRuntime): Unit =
    expect("keys", mutex.size.runSync(), 0)
    for key <- 0 until keys do
      expect(s"inside of the key $key", inside(key).get, 0L)
      expect(s"entries of the key $key", counts(key), done(key).get)
      if done(key).get == 0 then wrong(s"no fiber has entered the key $key")

/** A primitive that goes by a clock, which the fiber 0 moves: nothing depends on how fast the
  * machine is.
  */
private abstract class ClockRig(name: String) extends PrimitiveRig(name):
  protected val clock: VirtualClock = VirtualClock()

  /** The runtime of the primitive alone; the fibers run elsewhere. */
  protected val clocked: WeirRuntime = WeirRuntime(WeirRuntime.default.scheduler, clock, null)

  protected def pass(time: FiniteDuration): Task[Unit] = Task(
    clock.moveTo(clock.nanoTime + time.toNanos)
  )

/** No two loads of a key whose values fibers get run at once; none goes on while no fiber waits for
  * it.
  */
private final class CacheRig(kind: String, expireAfter: Duration, maxSize: Int)
    extends ClockRig(s"Cache($kind)"):
  private val keys = 4

  /** The value of a load: its first and its last moment, among those of this key's loads. */
  private final case class Loaded(key: Int, begun: Long, ended: Long)

  private val cache = Cache.unsafe[Int, Loaded](expireAfter, maxSize)(using clocked)
  private val moments = Array.fill(keys)(AtomicLong())
  private val latest = Array.tabulate(keys)(key => AtomicReference(Loaded(key, 0, 0)))
  private val inside, got = AtomicLong()

  override def operationsEnd: Boolean = false // some loads never end

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val key = random.nextInt(keys)
    val get = cache.get(key)(load(key, random.split())).attempt.map {
      case Right(loaded) => note(key, loaded)
      case Left(_: StressFibers.Expected) => ()
      case Left(error) => throw error
    }
    if id == 0 then pass(random.nextInt(10).micros).andThen(get) else get

  /** One that is being cancelled may overlap with the next one, as no fiber gets its value. */
  private def load(key: Int, random: SplittableRandom): Task[Loaded] = Task.uncancelable { poll =>
    Task {
      inside.incrementAndGet(): Unit
      moments(key).incrementAndGet()
    }.flatMap { begun =>
      val leave = Task(inside.decrementAndGet()).void
      val wait = random.nextInt(128) match
        case 0 => Task.never // until no fiber waits for it
        case i if i < 16 => Task.sleep(10.micros)
        case _ => Task.cede
      poll(wait).onCancel(leave).andThen(leave).andThen {
        if random.nextInt(4) == 0 then Task.fail(StressFibers.Expected())
        else Task(Loaded(key, begun, moments(key).incrementAndGet()))
      }
    }
  }

  private def note(key: Int, loaded: Loaded): Unit =
    got.incrementAndGet(): Unit
    expect("the key", loaded.key, key)
    val other = latest(key).get
    if loaded != other then
      if loaded.begun < other.ended && other.begun < loaded.ended then
        wrong(s"$loaded and $other ran at once")
      latest(key).accumulateAndGet(loaded, (a, b) => if a.begun > b.begun then a else b): Unit

  def finish()(using WeirRuntime): Unit =
    expect("loads that go on", inside.get, 0L)
    if got.get == 0 then wrong("no fiber has got a value")
    if cache.size.runSync() > maxSize then wrong(s"keeps ${cache.size.runSync()} values")
    for key <- 0 until keys do
      note(key, cache.get(key)(Task(Loaded(key, Long.MaxValue - 1, Long.MaxValue))).runSync())

/** Permits that were acquired and those that are left are those that time has brought, to the last
  * one.
  */
private final class RateLimiterRig extends ClockRig("RateLimiter"):
  private val burst =
    1_000_000_000 // never reached again: permits that come to a full bucket would be lost
  private val limiter = RateLimiter.unsafe(1, 1.micro, burst)(using clocked)
  limiter.acquireN(burst).runSync()
  private val permits = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    if id == 0 then
      // An alarm is set while a fiber waits.
      Task.defer(if clock.size > 0 then pass(random.nextInt(10).micros) else Task.cede)
    else
      val count = 1 + random.nextInt(5)
      random.nextInt(8) match
        case 0 => noted(limiter.tryAcquire)(taken => if taken then take(1))
        case 1 => noted(limiter.acquire)(_ => take(1))
        case _ => noted(limiter.acquireN(count))(_ => take(count))

  private def take(count: Int): Unit =
    val now = permits.addAndGet(count)
    val most = clock.elapsedNanos / 1000
    if now > most then wrong(s"$now permits were acquired when $most had come")

  def finish()(using WeirRuntime): Unit =
    if permits.get == 0 then wrong("no fiber has acquired a permit")
    expect("alarms", clock.size, 0)
    // Whoever waits now goes on, one after the other.
    val all = Task.parForeachN(8)(1 to 1000)(_ => limiter.acquire)
    Task.race(all, pass(1.micro).andThen(Task.cede).forever).runSync(): Unit
    permits.addAndGet(1000): Unit
    while limiter.tryAcquire.runSync() do permits.incrementAndGet(): Unit
    expect("permits", permits.get, clock.elapsedNanos / 1000)

/** There is one probe at most, and the circuit never stays half-open. */
private final class CircuitBreakerRig extends ClockRig("CircuitBreaker"):
  private final class Boom extends RuntimeException("boom", null, true, false)
  private val pauseMost = 200.micros
  private val breaker = CircuitBreaker.unsafe(1, 50.micros, 1.5, pauseMost)(using clocked)
  private val inside = AtomicInteger()
  private val refused, probes = AtomicLong()

  // It opens here, and no call succeeds: so whatever goes through is a probe.
  breaker.protect(Task.fail(Boom())).attempt.runSync(): Unit

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val leave = Task(inside.decrementAndGet()).void
    val enter = Task {
      val now = inside.incrementAndGet()
      if now != 1 then wrong(s"$now probes at once")
      probes.incrementAndGet()
    }
    val probe = Task.uncancelable(poll =>
      enter
        .andThen(poll(sometimes(random)).onCancel(leave))
        .andThen(leave)
        .andThen(Task.fail(Boom()))
    )
    val call = breaker.protect(probe).handleError {
      case _: CircuitOpen => refused.incrementAndGet()
      case _: Boom => ()
      case error => throw error
    }
    if id == 0 then pass(random.nextInt(50).micros).andThen(call) else call

  def finish()(using WeirRuntime): Unit =
    if refused.get == 0 || probes.get == 0 then
      wrong(s"${refused.get} calls were refused, ${probes.get} were probes")
    expect("inside", inside.get, 0)
    expect("the state", breaker.currentState.runSync(), State.Open)
    pass(pauseMost).runSync()
    breaker.protect(Task.unit).runSync()
    expect("the state after a probe that succeeds", breaker.currentState.runSync(), State.Closed)
