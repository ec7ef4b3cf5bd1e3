package weir.testkit.bugs

import java.util.ArrayDeque
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, Phaser, Semaphore}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.locks.ReentrantLock
import weir.testkit.bugs.KnownBug.{Program, locked, mustBe, ofThreads}

/** Locks, conditions, latches and barriers of the JDK: threads that wait for ever, or too short. */
object LockBugs:

  // One takes the space map page, then the data page; the other one the other way around.
  private val twoLocks = ofThreads(
    "a deadlock of two locks",
    "https://github.com/dibyendumajumdar/simpledbm/issues/25"
  )(correct =>
    new Program:
      private val spaceMap = ReentrantLock()
      private val data = ReentrantLock()
      private val tuples = AtomicInteger()
      private def insert(first: ReentrantLock, second: ReentrantLock) =
        first.locked(second.locked(tuples.incrementAndGet(): Unit))
      val threads = List(
        () => insert(spaceMap, data),
        () => if correct then insert(spaceMap, data) else insert(data, spaceMap)
      )
      def after() = mustBe("tuples", tuples.get, 2)
  )

  // Each philosopher takes the left fork first.
  private val threeLocks = ofThreads(
    "a deadlock of three locks",
    "https://github.com/rupakraj/dining-philosopher/pull/1"
  )(correct =>
    new Program:
      private val forks = Vector.fill(3)(new Object)
      private val eaten = AtomicInteger()
      private def eat(left: Int, right: Int) =
        forks(left).synchronized(forks(right).synchronized(eaten.incrementAndGet(): Unit))
      val threads = List(
        () => eat(0, 1),
        () => eat(1, 2),
        () => if correct then eat(0, 2) else eat(2, 0)
      )
      def after() = mustBe("meals", eaten.get, 3)
  )

  // Two readers wait for each other to stop reading, so that they can write.
  private val upgrade = ofThreads(
    "two readers that upgrade to writers",
    "https://github.com/kraison/vivace-graph/issues/76"
  )(correct =>
    new Program:
      private val permits = 2 // one for a reader, all for a writer
      private val lock = Semaphore(permits)
      private val value = AtomicInteger()
      private def change(): Unit =
        lock.acquire()
        if value.get < 2 then
          if correct then
            lock.release()
            lock.acquire(permits)
          else lock.acquire(permits - 1)
          value.set(value.get + 1)
          lock.release(permits)
      val threads = List(() => change(), () => change())
      def after() = mustBe("the value", value.get, 2)
  )

  // A consumer is woken in place of a producer: both wait for one condition.
  private val notifyOne = ofThreads(
    "notify instead of notifyAll",
    "https://github.com/Netflix/concurrency-limits/pull/70"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val changed = lock.newCondition()
      private val queue = ArrayDeque[Int]()
      private def wake() = if correct then changed.signalAll() else changed.signal()
      private def put(value: Int) = lock.locked:
        while !queue.isEmpty do changed.await()
        queue.add(value)
        wake()
      private def take() = lock.locked:
        while queue.isEmpty do changed.await()
        queue.poll()
        wake()
      val threads = List(() => put(1), () => put(2), () => take(), () => take())
      def after() = mustBe("left in the queue", queue.size, 0)
  )

  // The condition is not looked at again after the wait.
  private val ifForWhile = ofThreads(
    "a wait below an if",
    "https://github.com/eugenp/tutorials/issues/14417"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val changed = lock.newCondition()
      private val queue = ArrayDeque[Int](java.util.List.of(0))
      private val most = AtomicInteger()
      private def put(value: Int) = lock.locked:
        if correct then while queue.size >= 1 do changed.await()
        else if queue.size >= 1 then changed.await()
        queue.add(value)
        changed.signalAll()
        most.accumulateAndGet(queue.size, math.max): Unit
      private def take() = lock.locked:
        while queue.isEmpty do changed.await()
        queue.poll()
        changed.signalAll()
      private def takeTwo() =
        take()
        take()
      val threads = List(() => takeTwo(), () => put(1), () => put(2))
      def after() = mustBe("the most in the queue", most.get, 1)
  )

  // The capacity is checked, and then the producer waits: it has missed the wake-up in between.
  private val wakeUpBetween = ofThreads(
    "a wake-up between the check and the wait",
    "https://github.com/ArroyoSystems/arroyo/pull/1017"
  )(correct =>
    new Program:
      private val full = AtomicBoolean(true)
      private val lock = ReentrantLock()
      private val freed = lock.newCondition()
      private def offer(): Unit =
        if correct then lock.locked(while full.get do freed.await())
        else if full.get then lock.locked(freed.await())
        full.set(true)
      private def take() =
        full.set(false)
        lock.locked(freed.signalAll())
      val threads = List(() => take(), () => offer())
      def after() = mustBe("full", full.get, true)
  )

  // The network is taken back only after the latch has announced that it is there.
  private val earlyLatch = ofThreads(
    "a latch that counts down too early",
    "https://github.com/powsybl/powsybl-open-rao/pull/712"
  )(correct =>
    new Program:
      private val released = AtomicInteger()
      private val latch = CountDownLatch(2)
      private def compute() =
        if correct then released.incrementAndGet(): Unit
        latch.countDown()
        if !correct then released.incrementAndGet(): Unit
      private def next() =
        latch.await()
        mustBe("networks", released.get, 2)
      val threads = List(() => compute(), () => compute(), () => next())
      def after() = ()
  )

  // The remaining count of the latch is used as the index of a result.
  private val latchAsIndex = ofThreads(
    "the count of a latch as an index",
    "https://github.com/OpenTSDB/opentsdb/pull/1754"
  )(correct =>
    new Program:
      private val results = ConcurrentHashMap[Long, String]()
      private val latch = CountDownLatch(2)
      private def report(scanner: Long) =
        results.put(if correct then scanner else latch.getCount, s"of $scanner")
        latch.countDown()
      val threads = List(() => report(1), () => report(2))
      def after() =
        latch.await()
        mustBe("results", results.size, 2)
  )

  // The worker adds itself to those that are waited for, once it runs.
  private val lateRegistration = ofThreads(
    "a worker that registers itself",
    "https://github.com/carwow/umbra/pull/128"
  )(correct =>
    new Program:
      private val group = Phaser(if correct then 2 else 1)
      private val done = AtomicBoolean()
      private def work() =
        if !correct then group.register(): Unit
        done.set(true)
        group.arriveAndDeregister(): Unit
      private def stop() =
        group.arriveAndAwaitAdvance()
        mustBe("done at the end of the wait", done.get, true)
      val threads = List(() => work(), () => stop())
      def after() = ()
  )

  // A fast thread is in the next round before a slow one has seen the end of the last.
  private val reusedBarrier = ofThreads(
    "a barrier used again too early",
    "https://github.com/zephyrproject-rtos/zephyr/pull/119000"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val tripped = lock.newCondition()
      private var waiting = 0 // under the lock, as is the next
      private var round = 0
      private def await() = lock.locked:
        val mine = round
        waiting += 1
        if waiting == 2 then
          waiting = 0
          round += 1
          tripped.signalAll()
        else if correct then while round == mine do tripped.await()
        else while waiting != 0 do tripped.await()
      private def rounds() =
        await()
        await()
      val threads = List(() => rounds(), () => rounds())
      def after() = mustBe("rounds", round, 2)
  )

  val all: List[KnownBug] = List(
    twoLocks,
    threeLocks,
    upgrade,
    notifyOne,
    ifForWhile,
    wakeUpBetween,
    earlyLatch,
    latchAsIndex,
    lateRegistration,
    reusedBarrier
  )
