package weir.bench.ce2

import monix.eval.Task
import monix.execution.Scheduler.Implicits.global
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Monix, whose own benchmark it is.
  *
  * Run as its documentation does it: by the global scheduler with its usual execution model, and
  * `parSequence`, which was called `gather` when the figures were published.
  */
object MonixTasks extends TaskSystem:
  def name: String = "monix"

  def run(form: Form, size: Int): Option[() => Returned] =
    val ready = List.fill(size)(Task.eval(1))
    val forked = List.fill(size)(Task.evalAsync(1))
    val all: Task[List[Int]] = form match
      case Form.SequenceReady => Task.sequence(ready)
      case Form.SequenceForked => Task.sequence(forked)
      case Form.GatherReady => Task.parSequence(ready)
      case Form.GatherForked => Task.parSequence(forked)
      case Form.UnorderedReady => Task.parSequenceUnordered(ready)
      case Form.UnorderedForked => Task.parSequenceUnordered(forked)
    Some(() => all.runSyncUnsafe())
