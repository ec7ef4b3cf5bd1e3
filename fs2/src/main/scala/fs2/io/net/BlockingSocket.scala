package fs2.io.net

import java.net.{ServerSocket as JavaServerSocket, Socket as JavaSocket, SocketException}
import java.nio.channels.{AsynchronousCloseException, ClosedChannelException}

/** A socket that an interrupt of a virtual thread does not close.
  *
  * On a virtual thread an interrupt ends a read that waits, and the JDK then calls `close`. Here
  * that does nothing: nothing was read, and the socket can be read again. `release` closes it.
  */
private[net] final class BlockingSocket extends JavaSocket:
  override def close(): Unit = ()
  def release(): Unit = super.close()

/** The same for a socket that listens. */
private[net] final class BlockingServerSocket extends JavaServerSocket:
  override def close(): Unit = ()
  def release(): Unit = super.close()

  /** The next connection. */
  def next(): BlockingSocket =
    val socket = BlockingSocket()
    implAccept(socket)
    socket

private[net] object BlockingSocket:
  /** `body`, with the errors of closed channels, which are what libraries over fs2 look for. */
  inline def errors[A](isClosed: => Boolean, wasClosed: Boolean)(inline body: A): A =
    try body
    catch
      case error: SocketException if isClosed =>
        val closed = if wasClosed then ClosedChannelException() else AsynchronousCloseException()
        closed.initCause(error)
        throw closed
