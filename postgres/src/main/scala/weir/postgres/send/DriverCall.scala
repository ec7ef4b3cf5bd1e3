package weir.postgres.send

import java.sql.SQLException
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicReference
import weir.Task
import weir.postgres.ScriptConnection

/** One call of the driver, which a cancel makes end: by a cancel request, which the server answers with an error; by closing the
  * connection where that takes too long, as when the network is gone.
  *
  * {{{
  * Waiting --run--> Running --> Ended        Waiting --cancel--> Ended
  * }}}
  *
  * So a cancel that comes before the call, or after it, asks the server for nothing.
  */
private[postgres] final class DriverCall(connection: ScriptConnection, graceMillis: Long):
  import DriverCall.State

  private val state = AtomicReference(State.Waiting)
  private val ended = CountDownLatch(1)

  /** What `call` returns. */
  def run[A](call: => A): A =
    if !state.compareAndSet(State.Waiting, State.Running) then
      throw java.util.concurrent.CancellationException("It was canceled before it began.")
    try call
    finally
      state.set(State.Ended)
      ended.countDown()

  /** Nothing, once the call has ended, and the request too, which would hit the next statement if it came later. Where one of
    * them is not over in time, the connection is closed.
    */
  def cancel: Task[Unit] = Task.uninterruptible {
    if !state.compareAndSet(State.Waiting, State.Ended) && state.get == State.Running then
      val deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(graceMillis)
      val request = Thread.ofVirtual().name("weir-cancel-request").start(() => sendRequest())
      val hasEnded = ended.await(graceMillis, TimeUnit.MILLISECONDS)
      val isOver = request.join(java.time.Duration.ofNanos((deadline - System.nanoTime()) max 1L))
      if !hasEnded || !isOver then connection.abort()
      ended.await()
  }

  /** It has a connection of its own, which may wait as long as anything else. */
  private def sendRequest(): Unit =
    try connection.driver.cancelQuery()
    catch case _: SQLException => () // then the grace ends it

private[postgres] object DriverCall:
  /** Less than the ten seconds that a program has after a signal before it is ended with a dump. */
  val GraceMillis = 8000L

  private enum State:
    case Waiting, Running, Ended
