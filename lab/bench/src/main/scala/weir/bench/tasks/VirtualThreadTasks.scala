package weir.bench.tasks

import weir.bench.Rivals
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned

/** The forms of the published benchmark on bare virtual threads. */
object VirtualThreadTasks extends TaskSystem:
  def name: String = "virtual-threads"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunks = Vector.fill(size)(() => 1)
    form match
      case Form.SequenceReady => None
      case Form.SequenceForked =>
        Some(() => yieldingThread(thunks))
      case Form.GatherReady | Form.GatherForked => Some(() => Rivals.threadEach(thunks))
      case Form.UnorderedReady | Form.UnorderedForked =>
        Some(() => Rivals.threadEachUnordered(thunks))

  private def yieldingThread(thunks: Vector[() => Int]): Returned =
    var results = Vector.empty[Int]
    val thread = Thread.startVirtualThread: () =>
      results = thunks.map: thunk =>
        Thread.`yield`()
        thunk()
    thread.join()
    results
