package weir.stream

import scala.collection.mutable.HashMap
import weir.Task
import weir.fiber.Locals

/** As `ParEvalMapStage`, in the order in which the effects end, except that those of one key run
  * one after the other, in the order of the elements: `parEvalMapBy`.
  *
  * {{{
  * element: taken --its key is free--> runs --> done
  *             +--otherwise--> waits in its key's line --the one before is done--> runs
  * }}}
  *
  * The runner that has run an element continues with the next one of its line. So an element waits
  * only while one of its key runs, and no runner has to be found for it.
  *
  *   - **Invariant**: a key is in `lines` as long as one of its elements runs. So the map is never
  *     larger than the number of effects that run.
  */
private[weir] final class ByKeyStage(
    upstream: Pull,
    limit: Int,
    buffer: Int,
    key: Any => Any,
    f: Any => Task[Any]
) extends ParEvalMapStage(upstream, limit, buffer, f, ordered = false):
  import ByKeyStage.Keyed

  /** The last element of each line; under the lock. */
  private val lines = HashMap[Any, Keyed]()

  /** Has no effect: the consumer requests the runners for elements behind one that waits for its
    * key.
    */
  override private[stream] def discard(): Unit = ()

  override private[stream] def resultOf(element: Any): MapResult =
    val itsKey = key(element)
    val _ = itsKey.## // the code of the user: if it throws, then here
    Keyed(itsKey, element, runners.locals)

  override private[stream] def begins(result: MapResult): Boolean =
    val keyed = result.asInstanceOf[Keyed]
    lines.put(keyed.key, keyed) match
      case Some(last) =>
        last.next = keyed
        false
      case None => true

  override protected def following(result: MapResult): MapResult | Null =
    val keyed = result.asInstanceOf[Keyed]
    if keyed.next eq null then lines.remove(keyed.key): Unit
    keyed.next

private[weir] object ByKeyStage:
  private final class Keyed(val key: Any, element: Any, locals: Locals | Null)
      extends MapResult(element, locals):
    var next: Keyed | Null = null
