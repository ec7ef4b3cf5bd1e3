package weir.interop.tapir

import _root_.sttp.tapir.server.interpreter.BodyListener
import scala.util.{Failure, Success, Try}
import weir.http.Body
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
    case Blocks(blocks, length, _) => Body.stream(blocks, length)

private object Content:
  val empty: Content = InMemory(Array.emptyByteArray)

/** Tells tapir when a body has been sent: one in memory has no need of files any more, so it counts
  * as sent at once.
  */
private object ContentListener extends BodyListener[Task, Content]:
  def onComplete(content: Content)(ended: Try[Unit] => Task[Unit]): Task[Content] = content match
    case Content.InMemory(_) => ended(Success(())).as(content)
    case Content.Blocks(blocks, length, boundary) =>
      val closing = blocks.onFinalizeCase {
        case Outcome.Failed(error) => ended(Failure(error))
        case _ => ended(Success(()))
      }
      Task.pure(Content.Blocks(closing, length, boundary))
