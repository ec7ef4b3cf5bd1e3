package weir.interop.tapir

import _root_.sttp.tapir.TapirFile
import _root_.sttp.tapir.model.ServerRequest
import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*
import weir.{Outcome, Stream, Task, writeTo}

/** The files that were made for the body of one request. Tapir deletes those of a request that has
  * ended, but not those of one that was cancelled.
  */
private final class TemporaryFiles(options: TapirOptions):
  private val made = ConcurrentLinkedQueue[TapirFile]()

  /** Writes `blocks` to a new file, which is deleted if that does not succeed. */
  def write(request: ServerRequest, blocks: Stream[Array[Byte]]): Task[TapirFile] =
    Task.bracketCase(options.createFile(request).map { file =>
      made.add(file): Unit
      file
    })(file => blocks.writeTo(file.toPath).as(file)) {
      case (_, Outcome.Succeeded(_)) => Task.unit
      case (file, _) => options.deleteFile(file)
    }

  def deleteAll: Task[Unit] = Task.foreach(made.asScala.toList)(options.deleteFile)
