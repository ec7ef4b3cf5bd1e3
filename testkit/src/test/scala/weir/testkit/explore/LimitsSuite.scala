package weir.testkit.explore

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.collection.mutable
import scala.concurrent.duration.*
import scala.spinning.Spinning
import weir.{Ref, Task}
import weir.testkit.{ExploreFailure, ExploreLimits, TestRuntime}

/** The limits of an exploration, and its reports of them. */
class LimitsSuite extends munit.FunSuite:

  private def tookAtMost[A](most: FiniteDuration)(body: => A): A =
    val start = System.nanoTime()
    val result = body
    val took = (System.nanoTime() - start).nanos
    assert(took < most, s"it took ${took.toMillis} ms")
    result

  test("a spin lock of code that is not explored ends the run, with the line that spins"):
    var last = Spinning()
    val stuck = tookAtMost(10.seconds) {
      intercept[TestRuntime.Stuck](TestRuntime.explore(ExploreLimits(time = 500.millis)) {
        Task.defer {
          val lock = Spinning()
          last = lock
          val x = AtomicInteger()
          def uses = Task {
            lock.lock()
            x.incrementAndGet(): Unit
            x.incrementAndGet(): Unit
            lock.unlock()
          }
          Task.both(uses, uses)
        }
      })
    }
    assert(stuck.getMessage.contains("Spinning.scala:"), stuck.getMessage)
    assert(stuck.getMessage.contains("LimitsSuite.scala:"), stuck.getMessage)
    last.unlock() // for the thread that spins

  test("the thread of a step that has hung leaves the next exploration alone, and ends"):
    val lock = Spinning()
    lock.lock()
    def spins = TestRuntime.explore(ExploreLimits(time = 100.millis))(Task(lock.lock()))
    intercept[TestRuntime.Stuck](spins): Unit
    val hung = LimitsSuite.explorers
    assert(hung.nonEmpty)
    lock.unlock()
    val report = TestRuntime.explore() {
      for
        n <- Ref.of(0)
        _ <- Task.parTraverse(1 to 3)(_ => n.update(_ + 1).andThen(Task.cede))
        seen <- n.get
      yield assertEquals(seen, 3)
    }
    hung.foreach(_.join(10_000))
    assert(report.isExhaustive, s"$report")
    assert(!hung.exists(_.isAlive), s"$hung")

  test("a loop that waits for another fiber has to yield, and is told so"):
    val failure = intercept[ExploreFailure](TestRuntime.explore(ExploreLimits(steps = 2000)) {
      Task.defer {
        val isSet = AtomicBoolean()
        Task.both(Task(while !isSet.get do ()), Task(isSet.set(true)))
      }
    })
    assert(failure.getMessage.contains("has to yield"), failure.getMessage)

  test("the report says how often a fiber has yielded in a row, where a loop could go on"):
    val report = TestRuntime.explore() {
      Task.defer {
        val isSet = AtomicBoolean()
        Task.both(Task(while !isSet.get do Thread.`yield`()), Task(isSet.set(true)))
      }
    }
    assert(report.isExhaustive && !report.isComplete, s"$report")
    assert(report.toString.contains("in which no fiber yields more than"), s"$report")

  test("a task that cedes is cancelled after its end too"):
    val outcomes = mutable.Set[String]()
    TestRuntime.cancelEverywhere() { cancelled =>
      cancelled(Task.foreach(1 to 5)(_ => Task.cede)).flatMap(outcome =>
        Task(outcomes += outcome.getClass.getSimpleName)
      )
    }: Unit
    assertEquals(outcomes.size, 2, s"$outcomes")

  private val many = Task.defer {
    val n = AtomicInteger()
    val add = Task { for _ <- 1 to 8 do n.incrementAndGet(): Unit }
    Task.parTraverse(1 to 5)(_ => add)
  }

  test("a task that sleeps is cancelled at each time, also by random priorities"):
    val times = mutable.Set[Long]()
    val report = TestRuntime.cancelEverywhere(ExploreLimits(time = 1.second)) { cancelled =>
      for
        _ <- many
        _ <- cancelled(Task.sleep(1.second).andThen(many).andThen(Task.sleep(2.seconds)))
        now <- Task.monotonic
        _ <- Task(times += now.toSeconds - 1)
      yield ()
    }
    assert(report.randomOrders > 0, s"$report")
    assertEquals(times.toSet, Set(0L, 1L, 3L))

  test("random priorities show each order that two changes of a priority make"):
    // A stops, then B. After C, B goes on, and then A: A drops below B, which drops later.
    val random = RandomPriorities(seed = 1, depth = 3)
    val orders = List.fill(2000)(order(random, List("a" -> 2, "b" -> 2, "c" -> 1)))
    // At least 1 / (3 * 5 * 5) of them, as the probability is stated; half of that is no chance.
    assert(orders.count(_ == "abcba") > 2000 / 150, orders.groupMapReduce(identity)(_ => 1)(_ + _))

  /** The order in which `random` runs strands of so many steps each. */
  private def order(random: RandomPriorities, strands: List[(String, Int)]): String =
    val left = strands.map(_._2).toArray
    random.begin(left.sum)
    val point = Point()
    val order = StringBuilder()
    while left.exists(_ > 0) do
      point.enabled.clear()
      point.enabled ++= left.indices.filter(left(_) > 0)
      point.continues = point.enabled.contains(point.previous)
      val chosen = random.choose(point)
      order ++= strands(chosen)._1
      left(chosen) -= 1
      point.previous = chosen
      point.step += 1
    order.toString

  test("what is made smaller fails in the line in which it was found"):
    Instrumentation.install()
    val execution = Execution(StepLimits())
    val program = () =>
      for
        log <- Ref.of("")
        _ <- Task.parTraverse(Vector("a", "b", "c"))(name => log.update(_ + name))
        order <- log.get
      yield
        assert(order != "bac", "the first")
        assert(order != "bca", "the second")
    execution.run(program, Replay(Nil), null): Unit
    val search = BoundedSearch(2)
    var found = execution.run(program, search, null)
    while (found.failure eq null) || !found.failure.nn.getMessage.contains("first") do
      assert(search.next(), "no order fails in the first line")
      found = execution.run(program, search, null)
    val smaller = Smaller(execution, program, found)
    assert(smaller.failure.nn.getMessage.contains("first"), s"${smaller.failure}")

  test("functions of map, flatMap and defer fail too"):
    val logs = mutable.Set[List[String]]()
    TestRuntime.failEverywhere() { failing =>
      for
        log <- Ref.of(List.empty[String])
        note = (text: String) => log.update(text :: _)
        _ <- failing(
          note("map")
            .map(_ => ())
            .andThen(note("flatMap"))
            .flatMap(_ => note("defer"))
            .andThen(Task.defer(note("end")))
        )
        seen <- log.get
        _ <- Task(logs += seen.reverse)
      yield ()
    }: Unit
    val all = List("map", "flatMap", "defer", "end")
    assertEquals(logs.toSet, (1 to 4).map(all.take).toSet)

private object LimitsSuite:
  /** The threads of explorations. */
  def explorers: List[Thread] =
    import scala.jdk.CollectionConverters.*
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName == "weir-explore").toList
