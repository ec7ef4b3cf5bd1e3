package weir.interop.tapir

import _root_.sttp.capabilities.StreamMaxLengthExceededException
import _root_.sttp.tapir.server.interpreter.BodyListener
import java.util.concurrent.atomic.AtomicBoolean
import scala.util.{Failure, Success, Try}
import weir.http.{Body, BodyTooLarge}
import weir.{Outcome, Stream, Task}

/** The body of a response that tapir has made. */
private enum Content:
  case InMemory(bytes: Array[Byte])
  case Blocks(
      blocks: Stream[Array[Byte]],
      length: Option[Long],

      /** Ends the parts of the body, if it has parts. */
      boundary: Option[String] = None
  )

  def body: Body = this match
    case InMemory(bytes) => Body(bytes)
    case Blocks(blocks, length, _) =>
      // A body may be that of the request, which has too many bytes.
      val sent = blocks.adaptError { case error: StreamMaxLengthExceededException =>
        BodyTooLarge(error.maxBytes)
      }
      Body.stream(sent, length)

private object Content:
  val empty: Content = InMemory(Array.emptyByteArray)

/** Tells tapir when a body has been sent: one in memory has no need of files any more, so it counts
  * as sent at once, and a stream that is not sent when the request ends.
  */
private final class ContentListener(resources: RequestResources)
    extends BodyListener[Task, Content]:
  def onComplete(content: Content)(ended: Try[Unit] => Task[Unit]): Task[Content] = content match
    case Content.InMemory(_) => ended(Success(())).as(content)
    case content: Content.Blocks =>
      Task.delay {
        val hasEnded = AtomicBoolean()
        def once(result: Try[Unit]) =
          Task.defer(if hasEnded.getAndSet(true) then Task.unit else ended(result))
        resources.atEnd(once(Success(())))
        content.copy(blocks = content.blocks.onFinalizeCase {
          case Outcome.Failed(error) => once(Failure(error))
          case _ => once(Success(()))
        })
      }
