package weir.orders

import scala.concurrent.duration.*
import weir.orders.OrdersSuite.opened
import weir.std.Supervisor
import weir.{Ref, Resource, Scope, Task}

/** Each operator that runs tasks concurrently, or that releases something, with a cancel at each
  * step and with a failure at each step: what its tasks have opened is released once, and no fiber
  * is left.
  */
class OperatorOrdersSuite extends OrdersSuite:

  /** @param of
    *   the operator, given a task to run, one or several times, and the resource of that task
    */
  private final case class Operator(name: String, of: (Task[Int], Resource[Int]) => Task[Any])

  private def tasks(name: String)(of: Task[Int] => Task[Any]) =
    Operator(name, (part, _) => of(part))

  private def resources(name: String)(of: Resource[Int] => Task[Any]) =
    Operator(name, (_, resource) => of(resource))

  private val operators = List(
    tasks("both")(part => Task.both(part, part)),
    tasks("parTraverse")(part => Task.parTraverse(List(1, 2))(_ => part)),
    tasks("parForeachN")(part => Task.parForeachN(1)(List(1, 2))(_ => part)),
    tasks("parTraverseUnordered")(part => Task.parTraverseUnordered(List(1, 2))(_ => part)),
    tasks("parValidate")(part => Task.parValidate(List(1, 2))(_ => part)),
    tasks("race")(part => Task.race(part, part)),
    tasks("raceFirst")(part => Task.raceFirst(part, part)),
    tasks("racePair")(part =>
      Task.uncancelable(poll =>
        poll(Task.racePair(part, part)).flatMap {
          case Left((_, other)) => other.cancel
          case Right((other, _)) => other.cancel
        }
      )
    ),
    tasks("firstSuccess")(part => Task.firstSuccess(List(part, part))),
    tasks("timeout")(_.timeout(1.second)),
    tasks("timeoutTo")(part => part.andThen(Task.sleep(1.second)).timeoutTo(1.second, part)),
    tasks("cancelable")(part => part.cancelable(Task.unit)),
    tasks("memoize")(_.memoize.flatMap(memo => Task.both(memo, memo))),
    tasks("background")(part => part.background.use(_ => part)),
    tasks("Scope.run")(part => Scope.run(scope => scope.fork(part).andThen(part))),
    tasks("Scope.runAll")(part => Scope.runAll(scope => scope.fork(part).andThen(part))),
    tasks("Supervisor")(part => Supervisor().use(_.supervise(part).andThen(part))),
    tasks("Supervisor that awaits")(part => Supervisor(await = true).use(_.supervise(part))),
    resources("use")(_.use(n => Task(n + 1))),
    resources("flatMap")(resource => resource.flatMap(_ => resource).use(n => Task(n + 1))),
    resources("evalMap")(_.evalMap(n => Task(n + 1)).use(n => Task(n + 1))),
    resources("Resource.both")(resource => resource.both(resource).use((a, b) => Task(a + b))),
    resources("parSequence")(resource =>
      Resource.parSequence(List(resource, resource)).use(all => Task(all.sum))
    ),
    resources("Resource.timeout")(_.timeout(1.second).use(n => Task(n + 1))),
    resources("attempt")(_.attempt.use(_ => Task(1))),
    resources("handleErrorWith")(resource =>
      resource.evalMap(n => Task(n + 1)).handleErrorWith(_ => resource).use(n => Task(n + 1))
    ),
    resources("allocated")(resource =>
      Task.uncancelable(poll =>
        resource.allocated.flatMap((n, release) => poll(Task(n + 1)).guarantee(release))
      )
    )
  )

  /** A task that opens something, and has plain code. */
  private def part(resource: Resource[Int]): Task[Int] =
    resource.use(n => Task.cede.andThen(Task(n + 1)))

  for operator <- operators do
    cancels(s"${operator.name}: a cancel at each step leaves nothing open")() { cancelled =>
      for
        open <- Ref.of(0)
        resource = opened(open)
        _ <- cancelled(operator.of(part(resource), resource))
        left <- open.get
      yield assertEquals(left, 0)
    }

    fails(s"${operator.name}: a failure at each step leaves nothing open")() { failing =>
      for
        open <- Ref.of(0)
        resource = opened(open)
        _ <- failing(operator.of(part(resource), resource))
        left <- open.get
      yield assertEquals(left, 0)
    }
