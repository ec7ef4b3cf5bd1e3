package weir.testkit.bugs

import java.util.ArrayDeque
import java.util.concurrent.{ConcurrentLinkedQueue, CopyOnWriteArrayList, LinkedBlockingQueue}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import java.util.concurrent.locks.ReentrantLock
import scala.jdk.CollectionConverters.*
import weir.testkit.bugs.KnownBug.{Program, locked, mustBe, ofThreads}

/** Events that come in the wrong order: elements, a close, a timer, a subscription. */
object OrderBugs:

  // The cleaner has a connection in its hands that another thread takes out of the pool.
  private val closedConnection = ofThreads(
    "a pool that hands out a connection that is being closed",
    "https://github.com/ReactiveX/RxNetty/issues/100"
  )(correct =>
    new Program:
      final class Connection:
        val isClosed = AtomicBoolean()
      private val idle = ConcurrentLinkedQueue(List(Connection()).asJava)
      private def clean(): Unit =
        val old = idle.peek()
        // It has been idle for too long.
        if old != null then
          if correct then
            if idle.remove(old) then old.isClosed.set(true)
          else
            old.isClosed.set(true)
            idle.remove(old): Unit
      private def use(): Unit =
        val connection = idle.poll()
        if connection != null then mustBe("closed in use", connection.isClosed.get, false)
      val threads = List(() => use(), () => clean())
      def after() = ()
  )

  // A message that is sent once the route is there overtakes those that waited for the route.
  private val reordered = ofThreads(
    "a message that overtakes those that wait",
    "https://github.com/open-mpi/ompi/issues/26"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val hasRoute = AtomicBoolean()
      private val waiting = ConcurrentLinkedQueue[Int]()
      private val sent = ConcurrentLinkedQueue[Int]()
      private def flush() = while !waiting.isEmpty do sent.add(waiting.poll()): Unit
      private def send(message: Int) = lock.locked:
        if hasRoute.get then sent.add(message): Unit else waiting.add(message): Unit
      private def sendTwo() =
        send(1)
        send(2)
      private def routeFound() =
        if correct then
          lock.locked:
            flush()
            hasRoute.set(true)
        else
          hasRoute.set(true)
          flush()
      val threads = List(() => sendTwo(), () => routeFound())
      def after() = mustBe("the messages", sent.asScala.toList, List(1, 2))
  )

  // The worker sees an empty queue, and announces only later that it does not run any more.
  private val forgottenTask = ofThreads(
    "a drain loop that leaves an element",
    "https://github.com/ReactiveX/RxJava/pull/1012"
  )(correct =>
    new Program:
      private val queue = ConcurrentLinkedQueue[Int]()
      private val isDraining = AtomicBoolean()
      private val emitted = AtomicInteger()
      private def drain(): Unit =
        while !queue.isEmpty do
          queue.poll()
          emitted.incrementAndGet(): Unit
        isDraining.set(false)
        if correct && !queue.isEmpty && isDraining.compareAndSet(false, true) then drain()
      private def emit(value: Int) =
        queue.add(value)
        if isDraining.compareAndSet(false, true) then drain()
      val threads = List(() => emit(1), () => emit(2))
      def after() = mustBe("emitted", emitted.get, 2)
  )

  // The element is put after the last look into the queue.
  private val lastElement = ofThreads(
    "a shutdown that drops the last element",
    "https://github.com/signalfx/signalfx-go/pull/151"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val isClosed = AtomicBoolean()
      private val queue = LinkedBlockingQueue[Int]()
      private val accepted = AtomicInteger()
      private val handled = AtomicInteger()
      private def offer(): Unit =
        if !isClosed.get then
          accepted.incrementAndGet()
          queue.put(1)
      private def send() = if correct then lock.locked(offer()) else offer()
      private def shutDown() =
        if correct then lock.locked(isClosed.set(true)) else isClosed.set(true)
        while !queue.isEmpty do
          queue.poll()
          handled.incrementAndGet(): Unit
      val threads = List(() => send(), () => shutDown())
      def after() = mustBe("handled", handled.get, accepted.get)
  )

  // The old timer rings while it is replaced.
  private val answeredTwice = ofThreads(
    "a timeout after the timer was replaced",
    "https://github.com/resgateio/resgate/issues/114"
  )(correct =>
    new Program:
      private val timer = AtomicReference("first")
      private val answers = AtomicInteger()
      private def take(from: String, to: String): Boolean =
        if correct then timer.compareAndSet(from, to)
        else
          val isStill = timer.get == from
          if isStill then timer.set(to)
          isStill
      private def rings(name: String) = if take(name, "none") then answers.incrementAndGet(): Unit
      private def extend() = if take("first", "second") then rings("second")
      val threads = List(() => extend(), () => rings("first"))
      def after() = mustBe("answers", answers.get, 1)
  )

  // Both the timer and the element that fills the batch see it full.
  private val flushedTwice = ofThreads(
    "a batch flushed by its timer and by its size",
    "https://github.com/smallrye/smallrye-mutiny/issues/2187"
  )(correct =>
    new Program:
      private val batch = AtomicReference(List(1))
      private val emitted = ConcurrentLinkedQueue[Int]()
      private def flush(): Unit =
        val full =
          if correct then batch.getAndSet(Nil)
          else
            val seen = batch.get
            batch.set(Nil)
            seen
        full.foreach(emitted.add(_): Unit)
      private def add(value: Int): Unit =
        if batch.updateAndGet(_ :+ value).size >= 2 then flush()
      val threads = List(() => add(2), () => flush())
      def after() =
        flush()
        mustBe("the elements", emitted.asScala.toList.sorted, List(1, 2))
  )

  // The snapshot is read, then the subscriber is added: the update in between is in neither.
  private val missedUpdate = ofThreads(
    "a subscriber that misses an update after its snapshot",
    "https://github.com/booksbyus/zguide/issues/818"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val state = AtomicInteger()
      private val subscribers = CopyOnWriteArrayList[AtomicInteger]()
      private val seen = AtomicInteger()
      private def publish(value: Int) = lock.locked:
        state.set(value)
        subscribers.forEach(_.set(value))
      private def subscribe(): Unit =
        if correct then
          lock.locked:
            seen.set(state.get)
            subscribers.add(seen): Unit
        else
          seen.set(state.get)
          subscribers.add(seen): Unit
      val threads = List(() => subscribe(), () => publish(1))
      def after() = mustBe("what the subscriber knows", seen.get, 1)
  )

  // The future is found open, is completed, and then the callback is added.
  private val lateCallback = ofThreads(
    "a callback added to a completed future",
    "https://github.com/camunda/camunda/pull/13139"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private val isDone = AtomicBoolean()
      private val callbacks = ConcurrentLinkedQueue[() => Unit]()
      private val called = AtomicInteger()
      private def runAll() =
        Iterator.continually(callbacks.poll()).takeWhile(_ != null).foreach(_())
      private def complete() =
        isDone.set(true)
        if correct then lock.locked(runAll()) else runAll()
      private def add(callback: () => Unit): Unit =
        if correct then
          lock.locked:
            callbacks.add(callback)
            if isDone.get then runAll()
        else if isDone.get then callback()
        else callbacks.add(callback): Unit
      val threads =
        List(() => add(() => called.incrementAndGet(): Unit), () => complete())
      def after() = mustBe("calls", called.get, 1)
  )

  // Of the waiters the one that came last is served first.
  private val lateIsFirst = ofThreads(
    "a semaphore that serves a late waiter first",
    "https://github.com/hazelcast/hazelcast/issues/2443"
  )(correct =>
    new Program:
      private val lock = ReentrantLock()
      private var isFree = false // under the lock, as are those that wait
      private val waiters = ArrayDeque[Integer]()
      private val served = ConcurrentLinkedQueue[Int]()
      private val freed = lock.newCondition()
      private def acquire(name: Int) = lock.locked:
        waiters.add(name)
        while !isFree || (correct && waiters.peek() != name) do freed.await()
        isFree = false
        mustBe("the oldest waiter", waiters.poll(), name)
        served.add(name): Unit
      private def release() = lock.locked:
        isFree = true
        freed.signalAll()
      private def use(name: Int) =
        acquire(name)
        release()
      val threads = List(() => release(), () => use(1), () => use(2))
      def after() = mustBe("served", served.size, 2)
  )

  val all: List[KnownBug] = List(
    closedConnection,
    reordered,
    forgottenTask,
    lastElement,
    answeredTwice,
    flushedTwice,
    missedUpdate,
    lateCallback,
    lateIsFirst
  )
