package weir.testkit

import java.util.concurrent.{ConcurrentLinkedQueue, LinkedBlockingQueue}
import java.util.concurrent.locks.ReentrantLock
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Queue, Ref, Stream, Task}

class SeededSuite extends munit.FunSuite:

  TestRuntime.run(Task.unit) // the first use loads the agent

  /** Returns the events under `seed`, in their order. */
  private def trace(seed: Long)(body: (String => Unit) => Task[Any]): List[String] =
    val log = ConcurrentLinkedQueue[String]()
    val runtime = TestRuntime.seeded(seed)
    try runtime.run(body(log.add(_): Unit)): Unit
    finally runtime.close()
    log.asScala.toList

  private val bodies = List[(String, (String => Unit) => Task[Any])](
    "fibers that step" -> (log =>
      Task.parTraverse(1 to 5)(n => Task.foreach(1 to 5)(step => Task(log(s"$n.$step"))))
    ),
    "fibers on a queue, with sleeps and a cancel" -> (log =>
      for
        queue <- Queue.bounded[Int](2)
        takers <- Task.traverse(1 to 3)(n =>
          queue.take
            .flatMap(v => Task(log(s"$n took $v")).andThen(Task.sleep(1.milli)))
            .forever
            .start
        )
        _ <- Task.parTraverse(1 to 12)(v => queue.offer(v))
        _ <- Task.sleep(5.millis)
        _ <- Task.foreach(takers)(_.cancel)
      yield ()
    ),
    "code that blocks" -> { log =>
      val lock = ReentrantLock()
      val queue = LinkedBlockingQueue[Int](1)
      val put = Task.foreach(1 to 8)(n => Task(queue.put(n)))
      def take(name: Int) = Task:
        for _ <- 1 to 2 do
          val n = queue.take()
          lock.lock()
          try
            Thread.sleep(1)
            log(s"$name took $n")
          finally lock.unlock()
      Task.both(put, Task.parTraverse(1 to 4)(n => Task.cede.andThen(take(n))))
    },
    "code that yields" -> (log =>
      Task.parTraverse(1 to 3)(n =>
        Task:
          for step <- 1 to 3 do
            log(s"$n.$step")
            Thread.`yield`()
      )
    ),
    "a stream" -> (log =>
      Stream
        .emits(1 to 20)
        .parEvalMapUnordered(4)(n => Task.cede.as(n))
        .prefetchN(2)
        .evalTap(n => Task(log(s"$n")))
        .drain
    )
  )

  for (name, body) <- bodies do
    test(s"the same seed gives the same order: $name"):
      // Once all classes are loaded: the thread that drives the test loads some, and a fiber that
      // has to wait for it gives up its turn.
      trace(0)(body): Unit
      for seed <- 1L to 20L do
        val first = trace(seed)(body)
        for _ <- 1 to 3 do assertEquals(trace(seed)(body), first, s"seed $seed")

    test(s"different seeds give different orders: $name"):
      val orders = (1L to 40L).map(trace(_)(body)).distinct.size
      assert(orders >= 10, s"$orders orders of 40")

  test("some seed finds a lost update that is rare otherwise"):
    val error = intercept[AssertionError](TestRuntime.forAllSeeds(200) {
      for
        ref <- Ref.of(0)
        add = ref.get.flatMap(n => ref.set(n + 1))
        _ <- Task.both(add, add)
        n <- ref.get
      yield assertEquals(n, 2)
    })
    assert(error.getMessage.contains("-Dweir.test.seed="), error.getMessage)

  test("some seed finds a lost update between plain code that yields"):
    val error = intercept[AssertionError](TestRuntime.forAllSeeds(200)(Task.defer {
      var n = 0
      val add = Task { val m = n; Thread.`yield`(); n = m + 1 }
      Task.both(add, add).map(_ => assertEquals(n, 2))
    }))
    assert(error.getMessage.contains("seed"), error.getMessage)

  test("every order of two fibers that log once each comes up"):
    val orders = (1L to 60L).map(
      trace(_)(log => Task.both(Task.cede.map(_ => log("a")), Task.cede.map(_ => log("b"))))
    )
    assertEquals(orders.toSet, Set(List("a", "b"), List("b", "a")))

  test("a right program is right under many seeds"):
    TestRuntime.forAllSeeds(200) {
      for
        ref <- Ref.of(0)
        _ <- Task.parTraverse(1 to 10)(_ => Task.cede.andThen(ref.update(_ + 1)))
        n <- ref.get
      yield assertEquals(n, 10)
    }
