package weir.interop.tapir

import _root_.sttp.tapir.TapirFile
import _root_.sttp.tapir.model.ServerRequest
import java.util.concurrent.ConcurrentLinkedDeque
import weir.{Stream, Task, writeTo}

/** Keeps the files and the input streams of one request and its response. Tapir itself forgets
  * them where a body cannot be read to its end, or an interceptor drops a response.
  */
private final class RequestResources(options: TapirOptions):
  private val releases = ConcurrentLinkedDeque[Task[Unit]]()

  /** Runs `release` once, at the end of the request. */
  def atEnd(release: Task[Unit]): Unit = releases.push(release)

  /** Writes `blocks` to a new file. */
  def write(request: ServerRequest, blocks: Stream[Array[Byte]]): Task[TapirFile] =
    Task
      .uncancelable(_ =>
        options.createFile(request).map { file =>
          atEnd(options.deleteFile(file))
          file
        }
      )
      .flatMap(file => blocks.writeTo(file.toPath).as(file))

  /** Runs each release that is left, the latest one first. */
  def releaseAll: Task[Unit] = Task.defer {
    releases.poll match
      case null => Task.unit
      case release => release.guarantee(releaseAll)
  }
