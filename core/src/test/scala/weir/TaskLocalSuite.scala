package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.Await
import scala.concurrent.duration.*
import weir.std.Supervisor

/** Values that follow a fiber, and no other. */
class TaskLocalSuite extends WeirSuite:
  private val local = TaskLocal.unsafe("none")
  private val cede = Task.cede.andThen(Task.sleep(1.milli))

  /** Every operator that runs a child. It returns the value of the child. */
  private val children = List[(String, Task[String] => Task[String])](
    "start" -> (_.start.flatMap(_.joinOrFail)),
    "parTraverse" -> (child => Task.parTraverse(1 to 3)(_ => child).map(_.distinct.mkString)),
    "parTraverse(1)" -> (child =>
      Task.parTraverseN(1)(1 to 3)(_ => child).map(_.distinct.mkString)
    ),
    "parTraverseUnordered" -> (child =>
      Task.parTraverseUnordered(1 to 300)(_ => child).map(_.distinct.mkString)
    ),
    "parForeach" -> { child =>
      val last = AtomicReference("")
      Task.parForeachN(2)(1 to 3)(_ => child.map(last.set)).map(_ => last.get)
    },
    "race" -> (child => Task.race(child, Task.never).map(_.fold(identity, identity))),
    "both" -> (child => Task.both(child, child).map((a, b) => if a == b then a else s"$a $b")),
    "timeout" -> (_.timeout(1.hour)),
    "Scope.run" -> (child => Scope.run(_ => child)),
    "Scope.fork" -> (child => Scope.run(scope => scope.fork(child).flatMap(_.joinOrFail))),
    "Supervisor" -> (child => Supervisor().use(_.supervise(child).flatMap(_.joinOrFail))),
    "background" -> (child => child.background.use(_.joinOrFail)),
    "startDaemon" -> (child => child.startDaemon.flatMap(_.joinOrFail)),
    "firstSuccess" -> (child => Task.firstSuccess(List(child, Task.never))),
    "Resource.both" -> (child =>
      Resource.both(Resource.eval(child), Resource.unit).use((value, _) => Task.pure(value))
    ),
    "a release of Resource.both" -> { child =>
      val last = AtomicReference("")
      val one = Resource.make(Task.unit)(_ => child.map(last.set))
      Resource.both(one, Resource.unit).use(_ => Task.unit).map(_ => last.get)
    },
    "timeoutAbandon" -> (_.timeoutAbandon(1.hour)),
    "runSync" -> (child => Task(child.runSync())),
    "runSync in a block" -> (child => Task.direct(child.runSync())),
    "runAsync" -> (child => Task(Await.result(child.toFuture(), Duration.Inf))),
    "prefetchN" -> (child => Stream.eval(child).prefetchN(2).toList.map(_.mkString)),
    "parJoin" -> (child => Stream.emit(Stream.eval(child)).parJoin(2).toList.map(_.mkString)),
    "parEvalMap" -> (child =>
      Stream.fromIterable(1 to 300).parEvalMap(4)(_ => child).toList.map(_.distinct.mkString)
    ),
    "parEvalMapUnordered" -> (child =>
      Stream
        .fromIterable(1 to 300)
        .parEvalMapUnordered(4)(_ => child)
        .toList
        .map(_.distinct.mkString)
    )
  )

  /** Children that never suspend, and so may run in place, and others. */
  private val bodies = List[(String, Task[String] => Task[String])](
    "in place" -> identity,
    "suspended" -> (task => cede.andThen(task)),
    "in a block" -> (task => Task.direct { Task.cede.await; task.await })
  )

  for (way, child) <- children; (manner, body) <- bodies do
    test(
      s"a child inherits the value, and what it sets reaches no parent or sibling: $way, $manner"
    ):
      val own = body(local.get).flatMap(seen => local.set("child's").as(seen))
      val task =
        for
          _ <- local.set("parent's")
          seen <- child(own)
          after <- local.get
        yield (seen, after)
      assertEquals(task.runSync(), ("parent's", "parent's"))
      assertEquals(task.start.flatMap(_.joinOrFail).runSync(), ("parent's", "parent's"))

  test(
    "a fork copies the value of its moment: what the parent sets later does not reach the child"
  ):
    val gate = CountDownLatch(1)
    val task =
      for
        _ <- local.set("before")
        fiber <- Task(gate.await()).andThen(local.get).start
        _ <- local.set("after")
        _ <- Task(gate.countDown())
        seen <- fiber.joinOrFail
      yield seen
    assertEquals(task.runSync(), "before")

  test("a fiber keeps its value across every kind of wait"):
    for wait <- List(
        Task.cede,
        Task.sleep(1.milli),
        Task(Thread.sleep(1)),
        Task.unit.start.flatMap(_.join).void
      )
    do
      val task = local.set("mine").andThen(wait).andThen(local.get)
      assertEquals(task.start.flatMap(_.joinOrFail).runSync(), "mine")
      assertEquals(local.locally("mine")(wait.andThen(local.get)).runSync(), "mine")

  test("each run begins with the default, and locals do not mix"):
    val number = TaskLocal.unsafe(0)
    val task =
      for
        before <- Task.both(local.get, number.get)
        _ <- local.set("set")
        _ <- number.update(_ + 1)
        old <- number.getAndSet(5)
        was <- number.modify(n => (n * 2, s"was $n"))
        after <- Task.both(local.get, number.get)
      yield (before, old, was, after)
    for _ <- 1 to 2 do assertEquals(task.runSync(), (("none", 0), 1, "was 5", ("set", 10)))

  test("make gives a new local each time, and null is a value like any other"):
    val task =
      for
        a <- TaskLocal.of[String | Null]("a")
        b <- TaskLocal.of[String | Null]("b")
        _ <- a.set(null)
        seenA <- a.get
        seenB <- b.get
      yield (seenA, seenB)
    assertEquals(task.runSync(), (null, "b"))

  test("locally puts the value back after success, failure and cancel, before outer finalizers"):
    val boom = Boom()
    val begun = CountDownLatch(1)
    val seen = AtomicReference("")
    val look = local.get.map(seen.set)
    val ends =
      List[Task[Any]](cede, Task.fail(boom), Task.delay(throw boom), Task.canceled.andThen(cede))
    for before <- List(Task.unit, local.set("outer")); end <- ends do
      val task = before
        .andThen(local.get)
        .flatMap(outer =>
          local
            .locally("inner")(local.set("deeper").andThen(end))
            .attempt
            .onCancel(look)
            .andThen(look)
            .as(outer)
        )
      val outcome = task.start.flatMap(_.join).runSync()
      assertEquals(seen.get, if before eq Task.unit then "none" else "outer", s"$outcome")
    val stuck = local
      .locally("inner")(Task(begun.countDown()).andThen(Task.never).onCancel(look))
      .onCancel(local.get.map(outer => seen.set(s"${seen.get} $outer")))
    val fiber = stuck.start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals(seen.get, "inner none")

  test("what a stream's source sets, the effects of parEvalMap begin with, whichever runner pulls"):
    val source = Stream.fromIterable(1 to 200).evalMap(i => local.update(_ => s"$i").as(i))
    for stream <- List(
        source,
        source.evalMap(i => local.get.map(seen => if seen == s"$i" then i else -1))
      )
    do
      val seen = stream
        .parEvalMap(8)(i =>
          Task.cede.andThen(local.get).flatMap(seen => local.set("effect's").as(seen -> s"$i"))
        )
        .toList
        .runSync()
      assertEquals(seen.filter(_ != _), Nil)
      assertEquals(seen.size, 200)
    // The value that the source has set for one element is still there for the next one.
    val counting = Stream
      .fromIterable(1 to 200)
      .evalMap(_ => local.update(s => if s == "none" then "1" else s"${s.toInt + 1}"))
    assertEquals(
      counting.parEvalMap(4)(_ => local.get).toList.runSync(),
      (1 to 200).map(_.toString).toList
    )

  test("plain code sees the value of the fiber that runs it"):
    assertEquals(local.current, "none")
    val task = local.locally("mine")(Task((local.current, Task(local.current).runSync())))
    assertEquals(task.runSync(), ("mine", "mine"))
    assertEquals(task.start.flatMap(_.joinOrFail).runSync(), ("mine", "mine"))
    assertEquals(local.current, "none")
    val elsewhere = Task {
      val seen = AtomicReference("")
      Thread.startVirtualThread(() => seen.set(local.current)).join()
      seen.get
    }
    assertEquals(local.locally("mine")(elsewhere).runSync(), "none")
