package weir

import java.net.ServerSocket
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CompletableFuture
import scala.concurrent.Future
import scala.concurrent.duration.*
import scala.util.Try
import weir.io.{Command, Tcp}
import weir.std.{
  AtomicCell,
  Cache,
  CircuitBreaker,
  CountDownLatch,
  CyclicBarrier,
  Hotswap,
  KeyedMutex,
  KeyedQueue,
  KeyedSemaphore,
  Pool,
  RateLimiter,
  Signal,
  StreamMonitor,
  Supervisor,
  Topic
}

/** Each way to make a task, a resource, a schedule or a primitive, run again and beside another
  * run.
  */
class RunTwiceTasksSuite extends RunTwice:
  private val one = Task(1)
  private val two = List(one, Task(2))
  private val items = List(1, 2)
  private def next(n: Int) = Task(n + 1)
  private def even(n: Int) = Task(n % 2 == 0)
  private val elsewhere = Set("Stream", "Text", "Bytes", "ServerSentEvent", "Sinks")

  complete(
    RunTwice.objects.filterNot(of => elsewhere(of.getSimpleName.takeWhile(_ != '$'))),
    internal = Set("Cache.memoize", "Task.abandonable", "Task.onRuntime", "Tcp.listenOn")
  )

  // ---- tasks ----

  row("Task.pure")(1)(Task.pure(1))
  row("Task.unit")(())(Task.unit)
  row("Task.fail")(true)(Task.fail(Exception("no")).attempt.map(_.isLeft))
  row("Task.delay")(1)(Task.delay(1))
  row("Task.apply")(1)(Task(1))
  row("Task.uninterruptible")(1)(Task.uninterruptible(1))
  row("Task.interruptibleMany")(1)(Task.interruptibleMany(1))
  row("Task.onPlatformThread")(1)(Task.onPlatformThread(1))
  row("Task.defer")(1)(Task.defer(one))
  row("Task.async")(1)(Task.async[Int](_(Right(1))))
  row("Task.asyncCancelable")(1)(Task.asyncCancelable[Int] { callback =>
    callback(Right(1))
    Task.unit
  })
  row("Task.asyncUncancelable")(1)(Task.asyncUncancelable[Int](_(Right(1))))
  row("Task.asyncCheckAttempt")(1)(Task.asyncCheckAttempt[Int](_ => Task(Right(1))))
  row("Task.never")(true)(Task.never.timeout(1.milli).attempt.map(_.isLeft))
  row("Task.sleep")(())(Task.sleep(1.nano))
  row("Task.monotonic")(true)(Task.monotonic.map(_ != Duration.Undefined))
  row("Task.realTime")(true)(Task.realTime.map(_.toEpochMilli > 0))
  row("Task.executionContext")(true)(Task.executionContext.map(_ != null))
  row("Task.cede")(())(Task.cede)
  row[Outcome[Unit]]("Task.canceled")(Outcome.Canceled)(Task.canceled.start.flatMap(_.join))
  row("Task.uncancelable")(1)(Task.uncancelable(poll => poll(one)))
  row("Task.bracket")(2)(Task.bracket(one)(next)(_ => Task.unit))
  row("Task.bracketCase")(2)(Task.bracketCase(one)(next)((_, _) => Task.unit))
  row("Task.bracketFull")(2)(Task.bracketFull(poll => poll(one))(next)((_, _) => Task.unit))
  row("Task.direct")(3)(Task.direct {
    var sum = 0
    for task <- two do sum += task.await
    sum
  })
  row("Task.when")(())(Task.when(true)(one))
  row("Task.unless")(())(Task.unless(false)(one))
  row("Task.raiseWhen")(true)(Task.raiseWhen(true)(Exception("no")).attempt.map(_.isLeft))
  row("Task.raiseUnless")(true)(Task.raiseUnless(false)(Exception("no")).attempt.map(_.isLeft))
  row("Task.fromEither")(1)(Task.fromEither(Right(1)))
  row("Task.fromTry")(1)(Task.fromTry(Try(1)))
  row("Task.fromOption")(1)(Task.fromOption(Some(1))(Exception("no")))
  row("Task.fromFuture")(1)(Task.fromFuture(Future.successful(1)))
  row("Task.fromCompletionStage")(1)(
    Task.fromCompletionStage(CompletableFuture.completedFuture(1))
  )

  // ---- many tasks ----

  row("Task.sequence")(items)(Task.sequence(two))
  row("Task.traverse")(List(2, 3))(Task.traverse(items)(next))
  row("Task.foreach")(())(Task.foreach(items)(next))
  row("Task.fold")(3)(Task.fold(items)(0)((sum, n) => Task(sum + n)))
  row("Task.filter")(List(2))(Task.filter(items)(even))
  row[Either[List[Throwable], List[Int]]]("Task.validate")(Right(List(2, 3)))(
    Task.validate(items)(next)
  )
  row("Task.parSequence")(items)(Task.parSequence(two))
  row("Task.parSequenceN")(items)(Task.parSequenceN(2)(two))
  row("Task.parSequenceUnordered")(items)(Task.parSequenceUnordered(two).map(_.sorted))
  row("Task.parSequenceUnorderedN")(items)(Task.parSequenceUnorderedN(2)(two).map(_.sorted))
  row("Task.parTraverse")(List(2, 3))(Task.parTraverse(items)(next))
  row("Task.parTraverseN")(List(2, 3))(Task.parTraverseN(2)(items)(next))
  row("Task.parTraverseUnordered")(List(2, 3))(
    Task.parTraverseUnordered(items)(next).map(_.sorted)
  )
  row("Task.parTraverseUnorderedN")(List(2, 3))(
    Task.parTraverseUnorderedN(2)(items)(next).map(_.sorted)
  )
  row("Task.parForeach")(())(Task.parForeach(items)(next))
  row("Task.parForeachN")(())(Task.parForeachN(2)(items)(next))
  row("Task.parFilter")(List(2))(Task.parFilter(items)(even))
  row("Task.parFilterN")(List(2))(Task.parFilterN(2)(items)(even))
  row[Either[List[Throwable], List[Int]]]("Task.parValidate")(Right(List(2, 3)))(
    Task.parValidate(items)(next)
  )
  row[Either[List[Throwable], List[Int]]]("Task.parValidateN")(Right(List(2, 3)))(
    Task.parValidateN(2)(items)(next)
  )
  row[Either[Int, Nothing]]("Task.race")(Left(1))(Task.race(one, Task.never))
  row[Either[Int, Nothing]]("Task.raceFirst")(Left(1))(Task.raceFirst(one, Task.never))
  row("Task.racePair")("left")(Task.racePair(one, Task.never).flatMap {
    case Left((_, other)) => other.cancel.as("left")
    case Right((other, _)) => other.cancel.as("right")
  })
  row("Task.raceAll")(1)(Task.raceAll(List(one, Task.never)))
  row("Task.firstSuccess")(1)(Task.firstSuccess(List(Task.fail(Exception("no")), one)))
  row("Task.both")((1, 1))(Task.both(one, one))
  row("Task.zip")((1, 1))(Task.zip((one, one)))
  row("Task.parZip")((1, 1))(Task.parZip((one, one)))
  row("Task.parMap")(2)(Task.parMap((one, one))(_ + _))

  // ---- tasks that begin again ----

  /** Fails `count` times in each run. */
  private def failing(count: Int)(use: Task[Int] => Task[Int]): Task[Int] = Task.defer {
    var left = count
    use(Task { left -= 1; if left >= 0 then throw Exception("not yet") else 1 })
  }
  private val thrice = Schedule.recurs(3)
  row("Task.retry")(1)(failing(3)(_.retry(thrice)))
  row("Task.retry, given up")(true)(Task(throw Exception("no")).retry(thrice).attempt.map(_.isLeft))
  row("Task.repeat")(1)(one.repeat(thrice))
  row("Task.replicate")(List(1, 1))(one.replicate(2))
  row("Task.timeout")(1)(one.timeout(1.minute))
  row("Task.timeoutAbandon")(1)(one.timeoutAbandon(1.minute))
  fresh("Task.memoize")(Task(new Object).memoize.flatMap(identity))

  // ---- resources and schedules ----

  private def used[A](name: String)(expected: A)(resource: => Resource[A]): Unit =
    row(name)(expected) { val once = resource; once.use(Task.pure) }
  used("Resource.make")(1)(Resource.make(one)(_ => Task.unit))
  used("Resource.makeCase")(1)(Resource.makeCase(one)((_, _) => Task.unit))
  used("Resource.makeFull")(1)(Resource.makeFull(poll => poll(one))((_, _) => Task.unit))
  fresh("Resource.fromAutoCloseable")(
    Resource.fromAutoCloseable(Task(java.io.StringReader(""))).use(Task.pure)
  )
  used("Resource.pure")(1)(Resource.pure(1))
  used("Resource.unit")(())(Resource.unit)
  used("Resource.eval")(1)(Resource.eval(one))
  used("Resource.defer")(1)(Resource.defer(Resource.pure(1)))
  used("Resource.both")((1, 1))(Resource.both(Resource.eval(one), Resource.eval(one)))
  used("Resource.timeout")(1)(Resource.eval(one).timeout(1.minute))
  used("Resource.parSequence")(items)(Resource.parSequence(two.map(Resource.eval)))

  private def waits(name: String)(expected: Long)(schedule: => Schedule[Any]): Unit =
    row(name)(expected) { val once = schedule; Stream.fromSchedule(once).take(9).count }
  waits("Schedule.forever")(9)(Schedule.forever)
  waits("Schedule.recurs")(2)(Schedule.recurs(2))
  waits("Schedule.spaced")(2)(Schedule.spaced(1.nano).times(2))
  waits("Schedule.fixed")(2)(Schedule.fixed(1.nano).times(2))
  waits("Schedule.exponential")(2)(Schedule.exponential(1.nano).times(2))
  waits("Schedule.fibonacci")(2)(Schedule.fibonacci(1.nano).times(2))
  waits("Schedule.at")(2)(Schedule.at(now => Some(now.plusNanos(1))).times(2))
  waits("Schedule.andThen")(4)(Schedule.recurs(2).andThen(Schedule.recurs(2)))
  waits("Schedule.seeded")(2)(Schedule.recurs(2).fullJitter.seeded(1))

  // ---- primitives ----

  fresh("AtomicCell.of")(AtomicCell.of(1))
  fresh("Cache.apply")(Cache[Int, Int]())
  fresh("Callback.apply")(Callback[Int])
  fresh("Channel.bounded")(Channel.bounded[Int](1))
  fresh("Channel.unbounded")(Channel.unbounded[Int])
  fresh("Channel.synchronous")(Channel.synchronous[Int])
  fresh("CircuitBreaker.apply")(CircuitBreaker(1, 1.second))
  fresh("CountDownLatch.apply")(CountDownLatch(1))
  fresh("CyclicBarrier.apply")(CyclicBarrier(1))
  fresh("Deferred.apply")(Deferred[Int])
  fresh("Hotswap.apply")(Hotswap(Resource.pure(1)).use(Task.pure))
  fresh("Hotswap.empty")(Hotswap.empty[Int].use(Task.pure))
  fresh("KeyedMutex.apply")(KeyedMutex[Int]())
  fresh("KeyedQueue.apply")(KeyedQueue[Int, Int](1, identity, _ => 1))
  fresh("KeyedSemaphore.apply")(KeyedSemaphore[Int](1))
  fresh("Mutex.apply")(Mutex())
  fresh("Pool.apply")(Pool(Resource.pure(1), 1).use(Task.pure))
  fresh("Queue.bounded")(Queue.bounded[Int](1))
  fresh("Queue.unbounded")(Queue.unbounded[Int])
  fresh("Queue.dropping")(Queue.dropping[Int](1))
  fresh("Queue.sliding")(Queue.sliding[Int](1))
  fresh("Queue.synchronous")(Queue.synchronous[Int])
  fresh("RateLimiter.apply")(RateLimiter(1, 1.second))
  fresh("Ref.of")(Ref.of(1))
  fresh("Semaphore.apply")(Semaphore(1))
  fresh("Signal.of")(Signal.of(1))
  fresh("StreamMonitor.apply")(StreamMonitor())
  fresh("Supervisor.apply")(Supervisor().use(Task.pure))
  fresh("TaskLocal.of")(TaskLocal.of(1))
  fresh("Topic.apply")(Topic[Int])
  row("Channel.select")(1) {
    val channel = Channel.unsafe[Int](9)
    channel.send(1) >> Channel.select(channel.receiveClause).map(_.value)
  }
  row("Channel.trySelect")(Some(1)) {
    val channel = Channel.unsafe[Int](9)
    channel.send(1) >> Channel.trySelect(channel.receiveClause).map(_.map(_.value))
  }
  row("Scope.run")(1)(Scope.run(_.fork(one).flatMap(_.joinOrFail)))
  row("Scope.runAll")(1)(Scope.runAll(_.fork(one).flatMap(_.joinOrFail)))

  // ---- outside ----

  private def said(process: Command.Running) = process.output.map(String(_, UTF_8)).mkString()
  row("Command.run")("a\n")(Command.run("echo", "a").use(said))
  row("Command.runAs")("a\n")(Command.runAs(ProcessBuilder("echo", "a")).use(said))
  row("Tcp.listen")(true)(Tcp.listen(0).use(server => Task(server.port > 0)))
  row("Tcp.connect")(1) {
    val server = ServerSocket(0)
    Tcp.connect("localhost", server.getLocalPort).use(_ => one).guarantee(Task.unit)
  }
  row("Tcp.listenTls")(true)(
    Tcp.listenTls(0, javax.net.ssl.SSLContext.getDefault).use(server => Task(server.port > 0))
  )
  row("Tcp.connectTls")("closes at once") {
    val server = ServerSocket(0)
    Thread.ofVirtual.start(() => while true do server.accept().close()): Unit
    Tcp.connectTls("localhost", server.getLocalPort).use(_ => one).attempt.map {
      case Left(_: java.io.IOException) => "closes at once"
      case other => s"$other"
    }
  }
