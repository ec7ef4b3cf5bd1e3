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

  /** Does nothing if that was called before, as with a channel. */
  override def shutdownInput(): Unit = synchronized {
    if isClosed || !isInputShutdown then super.shutdownInput()
  }

  /** Does nothing if that was called before, as with a channel. */
  override def shutdownOutput(): Unit = synchronized {
    if isClosed || !isOutputShutdown then super.shutdownOutput()
  }

/** The same for a socket that listens. */
private[net] class BlockingServerSocket extends JavaServerSocket:
  override def close(): Unit = ()
  final def release(): Unit = super.close()

  /** Waits for the next connection, and gives it to `socket`. */
  def acceptInto(socket: BlockingSocket): Unit = implAccept(socket)

private[net] object BlockingSocket:
  /** Runs `body`, and translates errors into those of closed channels, which libraries over fs2
    * expect.
    */
  inline def errors[A](inline isClosed: Boolean)(inline body: A): A =
    if isClosed then throw ClosedChannelException()
    try body
    catch
      case error: SocketException if isClosed =>
        throw AsynchronousCloseException().initCause(error)
