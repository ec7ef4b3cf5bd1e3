package weir.bench.tasks

import weir.Task
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Weir. */
object WeirTasks extends TaskSystem:
  def name: String = "weir"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunk = Task.delay(1)
    val ready = List.fill(size)(Task.delay(1))
    val forked = List.fill(size)(Task.cede.andThen(thunk))
    Some(form match
      case Form.SequenceReady => () => Task.sequence(ready).runSync()
      case Form.SequenceForked => () => Task.sequence(forked).runSync()
      case Form.GatherReady => () => Task.parSequence(ready).runSync()
      case Form.GatherForked => () => Task.parSequence(forked).runSync()
      case Form.UnorderedReady => () => Task.parSequenceUnordered(ready).runSync()
      case Form.UnorderedForked => () => Task.parSequenceUnordered(forked).runSync())
