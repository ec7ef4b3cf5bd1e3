package weir.bench.tasks

import weir.bench.Rivals
import weir.lab.gather.{Form, TaskSystem}
import weir.lab.gather.TaskSystem.Returned
import zio.ZIO

/** The forms of the published benchmark in ZIO.
  *
  * Without order it is `mergeAllPar`: "Merges an Iterable to a single ZIO, working in parallel", in
  * the order in which they come.
  */
class ZioTasks(runZio: ZIO[Any, Nothing, Returned] => Returned) extends TaskSystem:
  def name: String = "zio"

  def run(form: Form, size: Int): Option[() => Returned] =
    val thunk = ZIO.succeed(1)
    val ready = List.fill(size)(ZIO.succeed(1))
    val forked = List.fill(size)(ZIO.yieldNow *> thunk)
    Some(form match
      case Form.SequenceReady => () => runZio(ZIO.collectAll(ready))
      case Form.SequenceForked => () => runZio(ZIO.collectAll(forked))
      case Form.GatherReady => () => runZio(ZIO.collectAllPar(ready))
      case Form.GatherForked => () => runZio(ZIO.collectAllPar(forked))
      case Form.UnorderedReady => () => runZio(ZIO.mergeAllPar(ready)(0L)(_ + _))
      case Form.UnorderedForked => () => runZio(ZIO.mergeAllPar(forked)(0L)(_ + _)))

/** As ZIO's release notes recommend it where speed counts. */
object ZioTasks extends ZioTasks(Rivals.runZio(_))
