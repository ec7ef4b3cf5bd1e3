package weir

import scala.collection.immutable.Queue as Line

/** A semaphore as a user of Cats Effect would write it, of a `Ref`, `Deferred`s, masks and polls:
  * the way in which Cats Effect's own semaphores and queues are made. It keeps its permits only if
  * no cancel falls between the end of a poll and the end of the mask around it.
  */
final class RefSemaphore(permits: Long):
  import RefSemaphore.*

  private val state = Ref.unsafe(State(permits, Line.empty))

  def available: Task[Long] = state.get.map(_.free)

  /** Waits in line until there are `n` permits. A cancel leaves the line, or gives back the permits
    * that have been granted meanwhile.
    */
  def acquireN(n: Long): Task[Unit] = Task.uncancelable { poll =>
    Deferred[Unit].flatMap { granted =>
      val request = Request(n, granted)
      state
        .modify { before =>
          if before.line.isEmpty && before.free >= n then
            (before.copy(free = before.free - n), Task.unit)
          else
            val wait = poll(granted.get).onCancel(leave(request))
            (before.copy(line = before.line.enqueue(request)), wait)
        }
        .flatMap(identity)
    }
  }

  def releaseN(n: Long): Task[Unit] = serve(state => state.copy(free = state.free + n))

  def withPermit[A](task: Task[A]): Task[A] =
    Resource
      .makeFull(poll => poll(acquireN(1)))((_, _) => releaseN(1))
      .use(_ => task)

  private def leave(request: Request): Task[Unit] = serve { state =>
    if state.line.contains(request) then state.copy(line = state.line.filterNot(_ eq request))
    else state.copy(free = state.free + request.n)
  }

  /** Makes the change, then grants permits to the first ones in line, as far as there are any. */
  private def serve(change: State => State): Task[Unit] = Task.uncancelable(_ =>
    state
      .modify { before =>
        var now = change(before)
        var served = List.empty[Request]
        while now.line.headOption.exists(_.n <= now.free) do
          val (first, rest) = now.line.dequeue
          now = State(now.free - first.n, rest)
          served ::= first
        (now, Task.foreach(served.reverse)(_.granted.complete(())))
      }
      .flatMap(identity)
  )

object RefSemaphore:
  private final class Request(val n: Long, val granted: Deferred[Unit])
  private final case class State(free: Long, line: Line[Request])
