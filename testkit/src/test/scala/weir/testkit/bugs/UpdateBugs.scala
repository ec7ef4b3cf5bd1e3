package weir.testkit.bugs

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import java.util.concurrent.locks.ReentrantLock
import weir.Ref
import weir.testkit.bugs.KnownBug.{Program, locked, mustBe, ofTasks, ofThreads, together}

/** Two steps that should have been one: a read and a write, a check and an act. */
object UpdateBugs:

  // A counter is loaded, and stored one higher.
  private val counterLoadedAndStored = ofTasks(
    "a counter loaded and stored",
    "https://github.com/tokio-rs/tokio/pull/4725"
  ) { correct =>
    for
      count <- Ref.of(0)
      add = if correct then count.update(_ + 1) else count.get.flatMap(n => count.set(n + 1))
      _ <- together(add, add)
      n <- count.get
    yield mustBe("the count", n, 2)
  }

  // `++` of a volatile field.
  private val volatileIncrement = ofThreads(
    "++ of a volatile field",
    "https://github.com/spring-projects/spring-framework/pull/22278"
  )(correct =>
    new Program:
      private val created = AtomicInteger()
      private def add() =
        if correct then created.incrementAndGet(): Unit else created.set(created.get + 1)
      val threads = List(() => add(), () => add())
      def after() = mustBe("created", created.get, 2)
  )

  // The map is searched for the keyword, which is then put and logged.
  private val checkThenPut = ofThreads(
    "a map checked, then changed",
    "https://github.com/networknt/json-schema-validator/pull/323"
  )(correct =>
    new Program:
      private val unknown = ConcurrentHashMap[String, String]()
      private val logged = AtomicInteger()
      private def warn(keyword: String): Unit =
        if correct then
          if unknown.put(keyword, keyword) == null then logged.incrementAndGet(): Unit
        else if !unknown.containsKey(keyword) then
          unknown.put(keyword, keyword)
          logged.incrementAndGet(): Unit
      val threads = List(() => warn("x"), () => warn("x"))
      def after() = mustBe("log entries", logged.get, 1)
  )

  // Two threads make a lock for the same key, and each takes its own.
  private val lockOfKey = ofThreads(
    "two locks for one key",
    "https://github.com/pilgr/Paper/issues/170"
  )(correct =>
    new Program:
      private val locks = ConcurrentHashMap[String, ReentrantLock]()
      private val content = AtomicInteger()
      private def lockFor(key: String): ReentrantLock =
        if correct then locks.computeIfAbsent(key, _ => ReentrantLock())
        else
          if !locks.containsKey(key) then locks.put(key, ReentrantLock()): Unit
          locks.get(key)
      private def write() = lockFor("file").locked(content.set(content.get + 1))
      val threads = List(() => write(), () => write())
      def after() = mustBe("writes", content.get, 2)
  )

  // The field is assigned before the object is complete.
  private val halfInitialized = ofThreads(
    "double-checked initialization of half an object",
    "https://github.com/eclipse-platform/eclipse.platform.ui/pull/798"
  )(correct =>
    new Program:
      private val rows = AtomicReference[AtomicInteger]()
      private val lock = ReentrantLock()
      private def table: AtomicInteger =
        if rows.get == null then
          lock.locked:
            if rows.get == null then
              val made = AtomicInteger()
              if !correct then rows.set(made)
              made.set(3)
              if correct then rows.set(made)
        rows.get
      private def use() = mustBe("the rows of the table", table.get, 3)
      val threads = List(() => use(), () => use())
      def after() = ()
  )

  // A stack of reused nodes, whose top is the same node again with another one below it.
  private val aba = ofThreads(
    "the ABA problem of a free list",
    "https://github.com/pmodels/argobots/issues/178"
  )(correct =>
    new Program:
      final class Node(val id: Int):
        val next = AtomicReference[Node]()
      // A new one for each state of the stack.
      final class Top(val node: Node)
      private val top = AtomicReference(Top(null))
      private def replace(seen: Top, node: Node): Boolean =
        if correct then top.compareAndSet(seen, Top(node))
        else
          val now = top.get // the same node is taken for the same state
          now.node == seen.node && top.compareAndSet(now, Top(node))
      private def push(node: Node): Unit =
        while
          val seen = top.get
          node.next.set(seen.node)
          !replace(seen, node)
        do ()
      private def pop(): Node =
        var taken: Node = null
        while
          val seen = top.get
          taken = seen.node
          taken != null && !replace(seen, taken.next.get)
        do ()
        taken
      private val Seq(a, b) = Seq(Node(1), Node(2))
      push(b)
      push(a)
      private val held = AtomicReference[Node]()
      private val other = AtomicReference[Node]()
      val threads = List(
        () => held.set(pop()),
        () =>
          val first = pop()
          other.set(pop())
          if first != null then push(first)
      )
      def after() =
        val rest = Iterator.continually(pop()).takeWhile(_ != null).take(3).toList
        val all = (held.get :: other.get :: rest).filter(_ != null).map(_.id).sorted
        mustBe("the nodes, each with one owner", all, List(1, 2))
  )

  // The count of references is 0 for a moment, and then somebody takes another one.
  private val resurrected = ofThreads(
    "a reference to what is being closed",
    "https://github.com/awslabs/aws-c-s3/pull/183"
  )(correct =>
    new Program:
      private val references = AtomicInteger(1)
      private val closed = AtomicBoolean()
      private def release() = if references.decrementAndGet() == 0 then closed.set(true)
      private def acquire(): Boolean =
        if correct then references.getAndUpdate(n => if n == 0 then 0 else n + 1) > 0
        else if closed.get then false
        else
          references.incrementAndGet()
          true
      private def use() =
        if acquire() then
          mustBe("closed while in use", closed.get, false)
          release()
      val threads = List(() => use(), () => release())
      def after() = mustBe("closed at last", closed.get, true)
  )

  // In flight are counted only once they have been let in.
  private val overIssued = ofThreads(
    "a limiter that lets in too many",
    "https://github.com/Netflix/concurrency-limits/issues/140"
  )(correct =>
    new Program:
      private val limit = 1
      private val inFlight = AtomicInteger()
      private val running = AtomicInteger()
      private val most = AtomicInteger()
      private def tryAcquire(): Boolean =
        if correct then
          val entered = inFlight.incrementAndGet() <= limit
          if !entered then inFlight.decrementAndGet(): Unit
          entered
        else if inFlight.get >= limit then false
        else
          inFlight.incrementAndGet()
          true
      private def call() =
        if tryAcquire() then
          most.accumulateAndGet(running.incrementAndGet(), math.max)
          running.decrementAndGet()
          inFlight.decrementAndGet(): Unit
      val threads = List(() => call(), () => call())
      def after() = mustBe("the most at once", most.get, 1)
  )

  // Every caller that sees the half-open state sends a probe.
  private val twoProbes = ofThreads(
    "two probes of a half-open circuit",
    "https://github.com/heznpc/AirMCP/pull/249"
  )(correct =>
    new Program:
      private val state = AtomicReference("open") // and the time for a probe has come
      private val probes = AtomicInteger()
      private def execute(): Unit =
        val probe =
          if correct then state.compareAndSet("open", "half-open")
          else if state.get == "open" then
            state.set("half-open")
            true
          else false
        if probe then
          probes.incrementAndGet()
          state.set("closed")
      val threads = List(() => execute(), () => execute())
      def after() = mustBe("probes", probes.get, 1)
  )

  // Both calls of `release` pass the guard.
  private val doubleRelease = ofThreads(
    "a connection released twice",
    "https://github.com/jackc/pgx/pull/2564"
  )(correct =>
    new Program:
      private val idle = ConcurrentLinkedQueue[String]()
      private val resource = AtomicReference("connection")
      private def release(): Unit =
        if correct then
          val mine = resource.getAndSet(null)
          if mine != null then idle.add(mine): Unit
        else
          val mine = resource.get
          if mine != null then
            resource.set(null)
            idle.add(mine): Unit
      val threads = List(() => release(), () => release())
      def after() = mustBe("idle connections", idle.size, 1)
  )

  // A thread misses the entry while another one loads it, comes too late to wait for that load, and
  // loads the entry again.
  private val loadedTwice = ofThreads(
    "a cache that loads a key twice",
    "https://github.com/maypok86/otter/issues/152"
  )(correct =>
    new Program:
      private val data = ConcurrentHashMap[Int, String]()
      private val loading = ConcurrentHashMap[Int, ReentrantLock]()
      private val loads = AtomicInteger()
      private def get(key: Int): Unit =
        if data.get(key) == null then
          loading
            .computeIfAbsent(key, _ => ReentrantLock())
            .locked:
              if !correct || data.get(key) == null then
                loads.incrementAndGet()
                data.put(key, "value"): Unit
      val threads = List(() => get(1), () => get(1))
      def after() = mustBe("loads", loads.get, 1)
  )

  // The value that was read before the change is put into the cache after it was invalidated.
  private val staleEntry = ofThreads(
    "a stale value after an invalidation",
    "https://github.com/google/guava/issues/1881"
  )(correct =>
    new Program:
      private val stored = AtomicReference("old")
      private val cache = ConcurrentHashMap[String, String]()
      private val generation = AtomicInteger()
      private def get(): Unit =
        if !cache.containsKey("id") then
          val before = generation.get
          val loaded = stored.get
          if !correct then cache.put("id", loaded): Unit
          else
            // Only if nothing was invalidated since.
            cache.compute("id", (_, now) => if generation.get == before then loaded else now): Unit
      private def change(): Unit =
        stored.set("new")
        if correct then
          cache.compute(
            "id",
            (_, _) =>
              generation.incrementAndGet()
              null
          ): Unit
        else cache.remove("id"): Unit
      val threads = List(() => get(), () => change())
      def after() = mustBe("the cached value", cache.getOrDefault("id", "new"), "new")
  )

  val all: List[KnownBug] = List(
    counterLoadedAndStored,
    volatileIncrement,
    checkThenPut,
    lockOfKey,
    halfInitialized,
    aba,
    resurrected,
    overIssued,
    twoProbes,
    doubleRelease,
    loadedTwice,
    staleEntry
  )
