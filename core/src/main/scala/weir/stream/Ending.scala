package weir.stream

import java.util.ArrayDeque
import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters.*
import weir.Outcome
import weir.kernel.{CallbackJoin, RunLoop, Suspend, Waiter}
import weir.sync.Awaited

/** Fibers that are cancelled, in the order in which they end. For one fiber that waits for them.
  *
  *   - **Shared, under this object's lock**: `ended` and `waiting`. `open` is for dumps, which take no lock.
  *   - **Woken once**: whoever ends takes the waiter; the one who waits looks again, and waits only if nobody has ended.
  */
private[stream] final class Ending extends Suspend[Unit], Awaited:
  private val ended = ArrayDeque[AnyRef]()
  private val open = ConcurrentHashMap.newKeySet[RunLoop]()
  private var waiting: Waiter | Null = null

  // the one who waits
  private var left = 0

  /** Cancels `fiber`, for which `name` will stand. */
  def stop(fiber: RunLoop, name: AnyRef): Unit =
    left += 1
    open.add(fiber): Unit
    fiber.requestCancel()
    fiber.register((list, lock) =>
      CallbackJoin(_ => note(fiber, name), fiber.runtime, list, lock)
    ) match
      case _: Outcome[?] => note(fiber, name)
      case _ => ()

  private def note(fiber: RunLoop, name: AnyRef): Unit =
    open.remove(fiber): Unit
    val waiter = synchronized {
      ended.add(name)
      val waiter = waiting
      waiting = null
      waiter
    }
    if waiter ne null then waiter.complete(()): Unit

  /** True if some of them have not been returned by `next`. */
  def hasNext: Boolean = left > 0

  /** The name of one that has ended. '''Waits''' for it. To be called masked. */
  def next(fiber: RunLoop): AnyRef =
    var name: AnyRef | Null = synchronized(ended.poll())
    while name eq null do
      fiber.await(this)
      name = synchronized(ended.poll())
    left -= 1
    name.nn

  def begin(fiber: RunLoop): Any = synchronized {
    if !ended.isEmpty then ()
    else
      val waiter = new Waiter(fiber):
        override def awaited: Awaited = Ending.this
      waiting = waiter
      waiter
  }

  def awaitedAs: String = "the end of fibers that it has canceled"

  override def holders: Iterator[RunLoop] = open.iterator.asScala
