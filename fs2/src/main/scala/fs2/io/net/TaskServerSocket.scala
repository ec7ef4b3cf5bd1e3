package fs2.io.net

import cats.effect.kernel.Poll
import com.comcast.ip4s.GenSocketAddress
import fs2.Stream
import java.io.IOException
import java.net.SocketOption as JavaOption
import java.util.Set as JavaSet
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.Task
import weir.interop.cats.given

/** A socket that listens, and the connections that it accepts.
  *
  *   - **A failed accept**, such as one that finds too many files open, concerns only a connection
  *     that was not made. It is reported, and the next accept follows after a pause. Only the end
  *     of the listening socket ends the stream.
  *   - **The race we fear**: a connection is accepted while the accept is cancelled, so that nobody
  *     gets it. The object of its socket is made before the accept, and is closed unless it is
  *     returned.
  */
private[net] final class TaskServerSocket(
    socket: BlockingServerSocket,
    options: List[SocketOption],
    val address: GenSocketAddress
) extends TaskSocketInfo:
  import TaskServerSocket.*

  def accept: Stream[Task, Socket[Task]] =
    Stream
      .bracketFull[Task, BlockingSocket](next(_, firstPause))((accepted, _) =>
        Task(accepted.release())
      )
      .repeat
      .map(accepted => TaskSocket(accepted): Socket[Task])
      .handleErrorWith(error =>
        if socket.isClosed then Stream.empty else Stream.raiseError[Task](error)
      )

  private def next(poll: Poll[Task], pause: FiniteDuration): Task[BlockingSocket] = Task.defer {
    val accepted = BlockingSocket()
    poll(OnWorker(acceptInto(accepted)))
      .redeemWith(
        error => Task(accepted.release()).flatMap(_ => retry(error, poll, pause)),
        _ => Task.pure(accepted)
      )
      .onCancel(Task(accepted.release()))
  }

  private def acceptInto(accepted: BlockingSocket): Unit =
    socket.acceptInto(accepted)
    options.foreach(option => accepted.setOption(option.key, option.value))

  private def retry(
      error: Throwable,
      poll: Poll[Task],
      pause: FiniteDuration
  ): Task[BlockingSocket] =
    error match
      case failed: IOException if !socket.isClosed =>
        for
          context <- Task.executionContext
          _ <- Task(context.reportFailure(NotAccepted(address, pause, failed)))
          _ <- poll(Task.sleep(pause))
          accepted <- next(poll, (pause * 2).min(longestPause))
        yield accepted
      case other => Task.fail(other)

  protected def isClosed: Boolean = socket.isClosed
  protected def optionsOfSocket: JavaSet[JavaOption[?]] = socket.supportedOptions
  protected def optionOfSocket[A](key: JavaOption[A]): A = socket.getOption(key)
  protected def changeOption[A](key: JavaOption[A], value: A): Unit =
    socket.setOption(key, value): Unit

private[net] object TaskServerSocket:
  private val firstPause = 5.millis
  private val longestPause = 1.second

  final class NotAccepted(address: GenSocketAddress, pause: FiniteDuration, cause: IOException)
      extends IOException(
        s"A connection to $address was not accepted: ${cause.getMessage}. The server goes on " +
          s"listening, and tries again in ${weir.io.Text.ofDuration(pause)}. If too many files " +
          "are open, raise the limit (ulimit -n), or limit the connections.",
        cause
      )
