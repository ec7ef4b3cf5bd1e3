package weir.feeds.fetch

import java.io.{ByteArrayOutputStream, IOException, InputStream}
import java.nio.ByteBuffer
import java.nio.channels.{ClosedByInterruptException, FileChannel}
import java.nio.file.{Files, StandardOpenOption}

/** The bytes of a body: in memory, or, if they are many, in a file until they are needed.
  *
  * So the memory that bodies take does not grow with the number of large ones that wait to be
  * parsed, and no server has to wait for that. The file has no name from the beginning, so nothing
  * is left of it when the process is killed.
  */
final class Content private (memory: Array[Byte], file: Option[FileChannel], val size: Long)
    extends AutoCloseable:
  /** Returns all bytes. The bytes of a file are read anew each time. */
  def bytes: Array[Byte] =
    file.fold(memory): channel =>
      val all = ByteBuffer.allocate(size.toInt)
      channel.position(0)
      // In parts: the JDK reads them by way of memory outside of the heap, which the thread keeps.
      while
        all.limit(all.capacity.min(all.position + Content.bufferBytes))
        all.hasRemaining && channel.read(all) >= 0
      do ()
      all.array

  def close(): Unit = file.foreach(_.close())

object Content:
  private val bufferBytes = 32 * 1024

  /** Few feeds are larger, and a hundred of this size fit into a small heap. */
  private[fetch] val memoryBytes = 1024 * 1024

  def of(bytes: Array[Byte]): Content = Content(bytes, None, bytes.length)

  /** All that `in` has.
    *
    * @param check
    *   is called with the number of bytes so far before those are kept, and may fail
    */
  private[fetch] def read(in: InputStream)(check: Long => Unit): Content =
    var memory = ByteArrayOutputStream()
    val buffer = new Array[Byte](bufferBytes)
    var file: Option[FileChannel] = None
    var size = 0L
    try
      var count = in.read(buffer)
      while count >= 0 do
        size += count
        check(size)
        if file.isEmpty && size > memoryBytes then
          file = Some(newFile())
          file.foreach(write(_, memory.toByteArray, memory.size))
          memory = ByteArrayOutputStream()
        file match
          case Some(channel) => write(channel, buffer, count)
          case None => memory.write(buffer, 0, count)
        count = in.read(buffer)
      Content(memory.toByteArray, file, size)
    catch
      case error: Throwable =>
        file.foreach(_.close())
        throw error

  /** A file that has no name any more: it is gone when it is closed, or the process ends. */
  private def newFile(): FileChannel =
    import StandardOpenOption.*
    stored(FileChannel.open(Files.createTempFile("weir-feed", null), READ, WRITE, DELETE_ON_CLOSE))

  private def write(channel: FileChannel, bytes: Array[Byte], count: Int): Unit =
    val part = ByteBuffer.wrap(bytes, 0, count)
    stored(while part.hasRemaining do channel.write(part): Unit)

  /** That a disk is full is nothing that the server has done. */
  private def stored[A](body: => A): A =
    try body
    catch
      case closed: ClosedByInterruptException => throw closed
      case error: IOException =>
        Failure.abandon(
          Reason.Unreadable,
          s"no room for it in ${System.getProperty("java.io.tmpdir")} ($error)"
        )
