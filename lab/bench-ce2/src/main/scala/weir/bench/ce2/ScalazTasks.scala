package weir.bench.ce2

import scala.collection.mutable.ListBuffer
import scalaz.Nondeterminism
import scalaz.concurrent.Task
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Scalaz, as the published benchmark has them. */
object ScalazTasks extends TaskSystem:
  def name: String = "scalaz"

  def run(form: Form, size: Int): Option[() => Returned] =
    val ready = List.fill(size)(Task.delay(1))
    val forked = List.fill(size)(Task(1))
    Some(form match
      case Form.SequenceReady => () => sequence(ready).unsafePerformSync
      case Form.SequenceForked => () => sequence(forked).unsafePerformSync
      case Form.GatherReady => () => concurrent.gather(ready).unsafePerformSync
      case Form.GatherForked => () => concurrent.gather(forked).unsafePerformSync
      case Form.UnorderedReady => () => concurrent.gatherUnordered(ready).unsafePerformSync
      case Form.UnorderedForked => () => concurrent.gatherUnordered(forked).unsafePerformSync)

  private val concurrent = Nondeterminism[Task]

  // The buffer is made when the task runs, so a run does not see what another one has added.
  private def sequence(tasks: List[Task[Int]]): Task[List[Int]] =
    tasks
      .foldLeft(Task.delay(ListBuffer.empty[Int])) { (before, task) =>
        before.flatMap(results => task.map(results += _))
      }
      .map(_.toList)
