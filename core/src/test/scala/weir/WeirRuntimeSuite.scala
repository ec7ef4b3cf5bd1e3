package weir

import java.util.concurrent.CompletableFuture
import scala.concurrent.Await
import scala.concurrent.duration.*
import weir.japi.Tasks

/** The runtime that a task runs on if none is given. */
class RuntimeSuite extends WeirSuite:

  private val other = WeirRuntime.make(2, 64)

  /** A task whose value is the runtime that its fiber runs on. */
  private val own: Task[WeirRuntime] = new fiber.Suspend[WeirRuntime]:
    def begin(fiber: weir.fiber.TaskFiber): Any = fiber.runtime

  private def assertOther(found: WeirRuntime): Unit =
    assert(
      found eq other,
      if found eq WeirRuntime.default then "the default one" else "a third one"
    )

  test("on a thread that runs no fiber it is the default one"):
    assert(summon[WeirRuntime] eq WeirRuntime.default)
    assert(own.runSync() eq WeirRuntime.default)
    val elsewhere = CompletableFuture[WeirRuntime]()
    val started =
      Task(Thread.ofVirtual().start(() => elsewhere.complete(summon[WeirRuntime]): Unit))
    started.runSync()(using other): Unit
    assert(elsewhere.get eq WeirRuntime.default)

  for
    (where, run) <- List[(String, Task[WeirRuntime] => WeirRuntime)](
      "a worker" -> (_.start.flatMap(_.joinOrFail).runSync()(using other)),
      "the thread of a caller of runSync" -> (_.runSync()(using other)),
      "a runSync inside of a fiber of another runtime" ->
        (task => Task(task.runSync()(using other)).start.flatMap(_.joinOrFail).runSync())
    )
    (how, nested) <- List[(String, () => WeirRuntime)](
      "runSync" -> (() => own.runSync()),
      "runSync twice" -> (() => Task(own.runSync()).runSync()),
      "runAsync" -> { () =>
        val found = CompletableFuture[WeirRuntime]()
        own.runAsync(outcome => found.complete(outcome.get): Unit): Unit
        found.get
      },
      "toFuture" -> (() => Await.result(own.toFuture(), 5.seconds)),
      "toCompletionStage" -> (() => own.toCompletionStage().toCompletableFuture.get),
      "Tasks.runSync" -> (() => Tasks.runSync(own)),
      "Tasks.toCompletableFuture" -> (() => Tasks.toCompletableFuture(own).get)
    )
  do
    test(s"$how in the code of a fiber on $where takes the runtime of that fiber"):
      assertOther(run(Task(nested())))
      assertOther(run(Task.direct(nested())))

  test("after a nested runSync on another runtime it is again that of the fiber"):
    val task = Task {
      own.runSync()(using WeirRuntime.default): Unit
      summon[WeirRuntime]
    }
    assertOther(task.start.flatMap(_.joinOrFail).runSync()(using other))

  test("a runtime that is given explicitly is taken"):
    val task = Task(own.runSync()(using WeirRuntime.default))
    assert(task.runSync()(using other) eq WeirRuntime.default)
