package weir.http.server

import java.io.IOException
import java.net.StandardSocketOptions
import java.nio.ByteBuffer
import java.nio.channels.{ReadPendingException, SelectionKey, SocketChannel}
import java.util.concurrent.Executor
import org.eclipse.jetty.io.{ManagedSelector, SocketChannelEndPoint}
import org.eclipse.jetty.util.thread.{Invocable, Scheduler}
import org.eclipse.jetty.util.{BufferUtil, Callback}
import scala.util.control.NonFatal

/** A connection that notices that the client closes it while a request is handled. Jetty itself
  * reads nothing in that time. The folder's README has the protocol.
  *
  *   - **Shared**, under this object's lock: all fields.
  *   - **Invariant**: bytes of `ahead` came before all bytes that are still in the socket.
  *   - **Order**: callbacks are called after the lock is released. One exception: if the selector
  *     refuses a registration, `OnReadable.failed` runs within `register`, under the lock.
  */
private[server] final class WatchedEndPoint(
    channel: SocketChannel,
    selector: ManagedSelector,
    key: SelectionKey,
    scheduler: Scheduler,
    executor: Executor,
    headerLimitNanos: Long
) extends SocketChannelEndPoint(channel, selector, key, scheduler):

  private val lock = Object()

  /** Jetty's interest in the next bytes. */
  private var reader: Callback | Null = null

  /** The request in flight, which is told that the client has gone. */
  private var exchange: Exchange | Null = null

  /** True while `onReadable` is registered at the selector. */
  private var isRegistered = false

  /** Bytes that were read to find the end behind them; null as long as there were none. */
  private var ahead: ByteBuffer | Null = null

  /** True from a request's header fields until Jetty has completed it. Until then, Jetty fills to
    * read what is left of the request's body.
    */
  private var isInRequest = false

  /** The time at which the first byte of the header fields came, or 0. */
  private var headerSince = 0L

  /** True once 408 was sent for header fields that came too late. */
  private var isTooLate = false

  // ---- what Jetty calls ----

  override def fill(buffer: ByteBuffer): Int = lock.synchronized {
    val filled =
      if hasAhead then BufferUtil.append(buffer, ahead) else super.fill(buffer)
    if filled > 0 && !isInRequest && headerSince == 0 then headerSince = System.nanoTime() | 1
    filled
  }

  override def fillInterested(callback: Callback): Unit =
    if !tryFillInterested(callback) then throw ReadPendingException()

  override def tryFillInterested(callback: Callback): Boolean =
    val (isTaken, isReady) = lock.synchronized {
      if reader != null then (false, false)
      else if hasAhead then (true, true)
      else
        reader = callback
        register()
        (true, false)
    }
    if isReady then executor.execute(() => callback.succeeded())
    isTaken

  override def isFillInterested: Boolean = lock.synchronized(reader != null)

  override def onClose(cause: Throwable | Null): Unit =
    super.onClose(cause)
    val gone = inFlight
    if gone != null then gone.stop(Exchange.Reason.ClientGone)

  // ---- what requests call ----

  /** Marks the beginning of a request. Returns false if its header fields came too late. */
  def beginRequest(): Boolean = lock.synchronized {
    isInRequest = true
    headerSince = 0
    !isTooLate
  }

  /** Stops `of` once the client has closed the connection, until the request ends. */
  def watch(of: Exchange): Unit =
    lock.synchronized {
      exchange = of
      register()
    }
    if !isOpen then of.stop(Exchange.Reason.ClientGone) // if it was closed before: see onClose

  /** Returns the request in flight. */
  def inFlight: Exchange | Null = lock.synchronized(exchange)

  /** Marks the end of the request, just before Jetty looks for the next one. */
  def endRequest(): Unit = lock.synchronized {
    exchange = null
    isInRequest = false
    headerSince = 0
  }

  /** Closes the connection with an RST. The client then sees an error also where the end of the
    * connection would be the end of the body.
    */
  def abort(): Unit =
    try channel.setOption(StandardSocketOptions.SO_LINGER, Integer.valueOf(0)): Unit
    catch case _: IOException => () // it is closed already
    close()

  /** Answers 408 and closes, if the header fields of a request have not come in time. */
  def closeIfLate(now: Long): Unit =
    val isLate = lock.synchronized {
      val late = !isInRequest && headerSince != 0 && now - headerSince > headerLimitNanos
      if late then
        isTooLate = true
        try flush(ByteBuffer.wrap(WatchedEndPoint.tooLate)): Unit
        catch case NonFatal(_) => () // closes all the same
      late
    }
    if isLate then close()

  // ---- the selector ----

  private def hasAhead: Boolean =
    val bytes = ahead
    bytes != null && bytes.hasRemaining

  private def register(): Unit =
    if !isRegistered then
      isRegistered = true
      super.fillInterested(OnReadable)

  private object OnReadable extends Callback:
    // Jetty then looks for a thread that goes on to read: see ReaderThreads.
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.BLOCKING

    override def succeeded(): Unit = ReaderThread.here match
      case thread: ReaderThread if !thread.isRunning => thread.run(() => readable())
      case _ => readable()

    private def readable(): Unit =
      val (jetty, gone) = lock.synchronized {
        isRegistered = false
        val waiting = reader
        reader = null
        (waiting, if waiting == null && exchange != null then lookAhead() else null)
      }
      if jetty != null then jetty.succeeded()
      if gone != null then gone.stop(Exchange.Reason.ClientGone)

    override def failed(error: Throwable): Unit =
      val (jetty, gone) = lock.synchronized {
        isRegistered = false
        val both = (reader, exchange)
        reader = null
        both
      }
      if jetty != null then jetty.failed(error)
      if gone != null then gone.stop(Exchange.Reason.ClientGone)

  /** Reads what has come. Returns the request in flight if that was the end. */
  private def lookAhead(): Exchange | Null =
    val bytes =
      val present = ahead
      if present != null then present
      else
        val made = BufferUtil.allocate(WatchedEndPoint.aheadLimitBytes)
        ahead = made
        made
    val count =
      try super.fill(bytes)
      catch case _: IOException => -1
    if count < 0 then exchange
    else
      // A client that has sent more than that is read no further until its response has ended.
      if BufferUtil.space(bytes) > 0 then register()
      null

private object WatchedEndPoint:
  val aheadLimitBytes = 4096

  val tooLate: Array[Byte] =
    "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".getBytes
