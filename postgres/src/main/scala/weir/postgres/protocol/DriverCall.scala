package weir.postgres.protocol

import java.sql.SQLException
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicReference
import weir.Task
import weir.postgres.ScriptConnection

/** One call of the driver that can be cancelled: by a cancel request, which the server answers with
  * an error; by closing the connection if that takes too long, as when the network is down.
  *
  * {{{
  * Waiting --run--> Running --> Ended        Waiting --cancel--> Ended
  * }}}
  *
  * So a cancel before or after the call sends no request.
  */
private[postgres] final class DriverCall(connection: ScriptConnection, graceMillis: Long):
  import DriverCall.State

  private val state = AtomicReference(State.Waiting)
  private val ended = CountDownLatch(1)
  @volatile private var cancelled = false

  /** Returns true if the call should end as soon as it can: it is to be cancelled. */
  def isCancelled: Boolean = cancelled

  /** Runs `call`, and returns its result. */
  def run[A](call: => A): A =
    if !state.compareAndSet(State.Waiting, State.Running) then
      throw java.util.concurrent.CancellationException("It was cancelled before it began.")
    try call
    finally
      state.set(State.Ended)
      ended.countDown()

  /** Nothing, once the call has ended, and the request too, which would cancel the next statement
    * if it arrived later. If one of the two is not over in time, the connection is closed.
    */
  def cancel: Task[Unit] = Task.uninterruptible {
    cancelled = true
    if !state.compareAndSet(State.Waiting, State.Ended) && state.get == State.Running then
      val deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(graceMillis)
      val request =
        Thread.ofPlatform().daemon().name("weir-cancel-request").start(() => sendRequest())
      val hasEnded = ended.await(graceMillis, TimeUnit.MILLISECONDS)
      val isOver = request.join(java.time.Duration.ofNanos((deadline - System.nanoTime()) max 1L))
      if !hasEnded || !isOver then connection.abort()
      ended.await()
  }

  /** The request has a connection of its own, which may hang as well. */
  private def sendRequest(): Unit =
    try connection.driver.cancelQuery()
    catch case _: SQLException => () // then the call ends after the grace period

private[postgres] object DriverCall:
  /** Less than the ten seconds after which a `WeirApp` that has received a signal is ended with a
    * dump.
    */
  val GraceMillis = 8000L

  /** Returns the result of `call`, which a cancel does not interrupt.
    *
    * It runs on a thread of the system. A virtual thread that waits for a socket costs three
    * hand-overs between threads, and the JVM's thread that waits for it makes each exit of the
    * process take 300 ms: the JVM waits so long for threads in native code.
    */
  def onThread[A](call: => A): Task[A] = Task.uncancelable(_ => Task.onPlatformThread(call))

  private enum State:
    case Waiting, Running, Ended
