package weir.interop.tapir

import _root_.sttp.tapir.TapirFile
import _root_.sttp.tapir.model.ServerRequest
import java.util.concurrent.ConcurrentLinkedQueue
import weir.{Stream, Task, writeTo}

/** The files that were made for the body of one request. Tapir knows those of a body that was read
  * to its end alone, so it deletes none.
  */
private final class TemporaryFiles(options: TapirOptions):
  private val made = ConcurrentLinkedQueue[TapirFile]()

  /** Writes `blocks` to a new file. */
  def write(request: ServerRequest, blocks: Stream[Array[Byte]]): Task[TapirFile] =
    Task
      .uncancelable(_ =>
        options.createFile(request).map { file =>
          made.add(file): Unit
          file
        }
      )
      .flatMap(file => blocks.writeTo(file.toPath).as(file))

  /** Deletes each file that is left, once. */
  def deleteAll: Task[Unit] = Task.defer {
    made.poll match
      case null => Task.unit
      case file => options.deleteFile(file).guarantee(deleteAll)
  }
