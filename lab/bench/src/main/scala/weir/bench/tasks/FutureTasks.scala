package weir.bench.tasks

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.Duration

import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Scala's Future on the global execution context.
  *
  * A future is running once it exists, so only the thunks are made beforehand.
  */
object FutureTasks extends TaskSystem:
  def name: String = "future"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunks = List.fill(size)(() => 1)
    form match
      case Form.SequenceForked => Some(() => await(oneByOne(thunks)))
      case Form.GatherReady | Form.GatherForked =>
        Some(() => await(Future.sequence(thunks.map(thunk => Future(thunk())))))
      case Form.SequenceReady | Form.UnorderedReady | Form.UnorderedForked => None

  private def oneByOne(thunks: List[() => Int]): Future[List[Int]] =
    thunks
      .foldLeft(Future.successful(List.empty[Int])) { (before, thunk) =>
        before.flatMap(values => Future(thunk() :: values))
      }
      .map(_.reverse)

  private def await(values: Future[List[Int]]): Returned = Await.result(values, Duration.Inf)
