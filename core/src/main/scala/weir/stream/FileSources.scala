package weir.stream

import java.io.{IOException, UncheckedIOException}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardWatchEventKinds.{ENTRY_CREATE, ENTRY_DELETE, ENTRY_MODIFY}
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{Files, NoSuchFileException, Path, WatchEvent}
import java.util.ArrayDeque
import scala.concurrent.duration.FiniteDuration
import weir.Task
import weir.io.{FileChange, Source}

/** The paths of a walk of the JDK's. */
private[weir] final class WalkSource(paths: java.util.stream.Stream[Path]) extends Source[Path]:
  private val iterator = paths.iterator

  def next()(using Task.Direct): Path | Source.End =
    try if iterator.hasNext then iterator.next() else Source.End
    catch case error: UncheckedIOException => throw error.getCause

  override def close()(using Task.Direct): Unit = paths.close()

/** The changes that a `WatchService` sees in one directory. */
private[weir] final class WatchSource(directory: Path) extends Source[FileChange]:
  private val service = directory.getFileSystem.newWatchService()
  private val seen = ArrayDeque[FileChange]()
  private var isGone = false
  try directory.register(service, ENTRY_CREATE, ENTRY_MODIFY, ENTRY_DELETE): Unit
  catch
    case error: Throwable =>
      service.close()
      throw error

  def next()(using Task.Direct): FileChange | Source.End =
    while seen.isEmpty && !isGone do
      val key = service.take()
      key.pollEvents().forEach(event => seen.add(change(event)): Unit)
      isGone = !key.reset()
    if seen.isEmpty then Source.End else seen.poll()

  private def change(event: WatchEvent[?]): FileChange = event.context match
    case name: Path =>
      val path = directory.resolve(name)
      if event.kind == ENTRY_CREATE then FileChange.Created(path)
      else if event.kind == ENTRY_DELETE then FileChange.Deleted(path)
      else FileChange.Modified(path)
    case _ => FileChange.Missed

  override def close()(using Task.Direct): Unit = service.close()

/** The bytes of a file that grows, and of the files that take its place. */
private[weir] final class TailSource(
    path: Path,
    fromEnd: Boolean,
    interval: FiniteDuration,
    blockBytes: Int
) extends Source[Array[Byte]]:
  private val buffer = ByteBuffer.allocate(blockBytes)
  private var channel: FileChannel | Null = null
  private var key: AnyRef | Null = null
  private var position = 0L
  private var isFirst = true

  def next()(using Task.Direct): Array[Byte] | Source.End =
    var block = read()
    while block.isEmpty do
      advance()
      block = read()
    block

  /** Reads the bytes that were added to the open file; empty if there are none. */
  private def read(): Array[Byte] =
    if channel eq null then open()
    val file = channel
    if file eq null then TailSource.none
    else
      buffer.clear(): Unit
      val count = file.read(buffer, position)
      if count <= 0 then TailSource.none
      else
        position += count
        java.util.Arrays.copyOf(buffer.array, count)

  private def open(): Unit =
    try
      val before = attributes
      if before.isOther then throw TailSource.noFile(path) // opening a named pipe may wait for ever
      if before.isDirectory then throw ByteInput.directoryError(path)
      val file = FileChannel.open(path)
      channel = file
      key = attributes.fileKey
      if key != before.fileKey then leave() // it is not known which of the two files is open
      else
        position = if fromEnd && isFirst then file.size else 0
        isFirst = false
    catch
      case _: NoSuchFileException =>
        leave()
        isFirst = false // a file that is made later is read as a whole

  private def attributes: BasicFileAttributes =
    Files.readAttributes(path, classOf[BasicFileAttributes])

  /** After the end of the file: waits, or continues with the file that is there now. */
  private def advance()(using Task.Direct): Unit =
    val file = channel
    if file eq null then Task.sleep(interval).await
    else
      val now =
        try attributes
        catch case _: NoSuchFileException => null
      if (now ne null) && now.fileKey != key then
        // bytes that were written before the other file came are read first
        if file.size <= position then leave()
      else if file.size < position then position = 0
      else Task.sleep(interval).await

  private def leave(): Unit =
    val file = channel
    channel = null
    if file ne null then file.close()

  override def close()(using Task.Direct): Unit = leave()

private[weir] object TailSource:
  val none = new Array[Byte](0)

  def noFile(path: Path): IOException = IOException(
    s"Stream.tailOf: $path is a pipe or a device. It must be a file. To read a pipe, use " +
      "Stream.fromPath."
  )
