package weir.http.server

import java.io.IOException
import java.net.StandardSocketOptions
import java.nio.ByteBuffer
import java.nio.channels.{ReadPendingException, SelectionKey, SocketChannel}
import java.util.concurrent.Executor
import org.eclipse.jetty.io.{EndPoint, EofException, ManagedSelector, SocketChannelEndPoint}
import org.eclipse.jetty.util.thread.{Invocable, Scheduler}
import org.eclipse.jetty.util.{BufferUtil, Callback}
import scala.util.control.NonFatal

/** A connection that notices that the client closes it while a request is handled. Jetty itself
  * reads nothing in that time. The folder's README has the protocol.
  *
  *   - **Shared**, under this object's lock: all fields.
  *   - **Invariant**: bytes of `ahead` came before all bytes that are still in the socket.
  *   - **Order**: callbacks are registered and called after the lock is released: a layer of TLS
  *     calls this end point under a lock of its own.
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

  /** The time at which the first byte of the header fields came, or of the handshake of TLS; or 0.
    */
  private var headerSince = 0L

  /** The layer of TLS over this connection; null if there is none. */
  private var layer: EndPoint | Null = null

  /** True as long as all bytes that come are those of a handshake. */
  private var isInHandshake = false

  /** True once 408 was sent for header fields that came too late. */
  private var isTooLate = false

  // ---- what Jetty calls ----

  override def fill(buffer: ByteBuffer): Int = lock.synchronized {
    val filled =
      if hasAhead then BufferUtil.append(buffer, ahead) else super.fill(buffer)
    if filled > 0 && (layer == null || isInHandshake) then received()
    filled
  }

  /** Writes header fields and a small body by one plain call of the system. It costs less than the
    * gathering one for several buffers, and than the JDK's copies for that.
    */
  override def flush(buffers: ByteBuffer*): Boolean =
    val thread = ReaderThread.here
    val all = if thread == null || buffers.size < 2 then null else thread.gathered(buffers)
    if all == null then super.flush(buffers*)
    else
      val written =
        try channel.write(all)
        catch case error: IOException => throw EofException(error)
      if written > 0 then notIdle()
      ReaderThread.skip(buffers, written)
      !all.hasRemaining

  override def fillInterested(callback: Callback): Unit =
    if !tryFillInterested(callback) then throw ReadPendingException()

  override def tryFillInterested(callback: Callback): Boolean =
    val (isTaken, isReady, isNew) = lock.synchronized {
      if reader != null then (false, false, false)
      else if hasAhead then (true, true, false)
      else
        reader = callback
        (true, false, begins())
    }
    if isReady then executor.execute(() => callback.succeeded())
    if isNew then register()
    isTaken

  override def isFillInterested: Boolean = lock.synchronized(reader != null)

  override def onClose(cause: Throwable | Null): Unit =
    super.onClose(cause)
    val gone = inFlight
    if gone != null then gone.stop(Exchange.Reason.ClientGone)

  // ---- what a layer of TLS calls ----

  /** Begins the handshake of `over`, before the first byte. */
  def secureBy(over: EndPoint): Unit = lock.synchronized {
    layer = over
    isInHandshake = true
  }

  def handshakeEnded(): Unit = lock.synchronized {
    isInHandshake = false
    headerSince = 0
  }

  /** Starts the clock of the header fields if the bytes that have come are the first ones. */
  def received(): Unit = lock.synchronized {
    if !isInRequest && headerSince == 0 then headerSince = System.nanoTime() | 1
  }

  // ---- what requests call ----

  /** Marks the beginning of a request. Returns false if its header fields came too late. */
  def beginRequest(): Boolean = lock.synchronized {
    isInRequest = true
    headerSince = 0
    !isTooLate
  }

  /** Stops `of` once the client has closed the connection, until the request ends. */
  def watch(of: Exchange): Unit =
    val isNew = lock.synchronized {
      exchange = of
      begins()
    }
    if isNew then register()
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

  /** Answers 408 and closes, if the header fields of a request have not come in time. Closes, if a
    * handshake has not.
    */
  def closeIfLate(now: Long): Unit =
    val answers = lock.synchronized {
      val isLate = !isInRequest && headerSince != 0 && now - headerSince > headerLimitNanos
      if !isLate then null
      else
        isTooLate = true
        if isInHandshake then Array.emptyByteArray else WatchedEndPoint.tooLate
    }
    if answers != null then
      val over = if layer == null then this else layer.nn
      // Not under the lock: a layer calls `fill` under a lock of its own.
      try if answers.nonEmpty then over.flush(ByteBuffer.wrap(answers)): Unit
      catch case NonFatal(_) => () // closes all the same
      over.close()

  // ---- the selector ----

  private def hasAhead: Boolean =
    val bytes = ahead
    bytes != null && bytes.hasRemaining

  /** Returns true if the caller has to register `OnReadable`, once it has released the lock. */
  private def begins(): Boolean =
    val isNew = !isRegistered
    isRegistered = true
    isNew

  private def register(): Unit = super.fillInterested(OnReadable)

  private object OnReadable extends Callback:
    // Jetty then looks for a thread that goes on to read: see ReaderThreads.
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.BLOCKING

    override def succeeded(): Unit = ReaderThread.here match
      case thread: ReaderThread if !thread.isRunning => thread.run(() => readable())
      case _ => readable()

    private def readable(): Unit =
      val (jetty, gone, isNew) = lock.synchronized {
        isRegistered = false
        val waiting = reader
        reader = null
        if waiting != null || exchange == null then (waiting, null, false)
        else if isAtEnd() then (null, exchange, false)
        // A client that has sent more than that is read no further until its response has ended.
        else (null, null, BufferUtil.space(ahead) > 0 && begins())
      }
      if isNew then register()
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

  /** Reads what has come into `ahead`. Returns true if that was the end. */
  private def isAtEnd(): Boolean =
    val bytes =
      val present = ahead
      if present != null then present
      else
        val made = BufferUtil.allocate(WatchedEndPoint.aheadLimitBytes)
        ahead = made
        made
    try super.fill(bytes) < 0
    catch case _: IOException => true

private object WatchedEndPoint:
  val aheadLimitBytes = 4096

  val tooLate: Array[Byte] =
    "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".getBytes
