package weir.bench.tasks

import cats.effect.IO
import cats.syntax.all.*
import weir.bench.Rivals
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark in Cats Effect 3, which has none without order. */
object CatsEffectTasks extends TaskSystem:
  def name: String = "cats-effect"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunk = IO.delay(1)
    val ready = List.fill(size)(IO.delay(1))
    val forked = List.fill(size)(IO.cede *> thunk)
    form match
      case Form.SequenceReady => Some(() => Rivals.runCats(ready.sequence))
      case Form.SequenceForked => Some(() => Rivals.runCats(forked.sequence))
      case Form.GatherReady => Some(() => Rivals.runCats(ready.parSequence))
      case Form.GatherForked => Some(() => Rivals.runCats(forked.parSequence))
      case Form.UnorderedReady | Form.UnorderedForked => None
