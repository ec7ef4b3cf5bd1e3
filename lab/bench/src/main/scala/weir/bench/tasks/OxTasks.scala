package weir.bench.tasks

import ox.{fork, par, supervised}
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Ox, where a task is a function and runs on a fork.
  *
  * It has no form for a collection that takes results as they come.
  */
object OxTasks extends TaskSystem:
  def name: String = "ox"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunks = Vector.fill(size)(() => 1)
    form match
      case Form.SequenceForked =>
        Some(() => supervised(thunks.map(thunk => fork(thunk()).join())))
      case Form.GatherReady | Form.GatherForked => Some(() => par(thunks))
      case Form.SequenceReady | Form.UnorderedReady | Form.UnorderedForked => None
