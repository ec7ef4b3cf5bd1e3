package weir.postgres

import java.io.{EOFException, RandomAccessFile}
import java.nio.file.Files

/** The bytes of a statement that is too long to be kept in memory, in a temporary file. The file
  * has no name any more, so that it is gone when it is closed, however that comes about.
  *
  * One thread at a time may use it: the reader of the script, and then the one that sends it.
  */
private[postgres] final class LongText private (file: RandomAccessFile) extends AutoCloseable:
  private var size = 0

  def length: Int = size

  def append(bytes: Array[Byte], from: Int, count: Int): Unit =
    file.seek(size.toLong)
    file.write(bytes, from, count)
    size += count

  /** Leaves out the bytes from `index` on. */
  def cut(index: Int): Unit = size = index

  /** Returns the bytes from `from` to `until`. */
  def read(from: Int, until: Int): Array[Byte] =
    val bytes = new Array[Byte](until - from)
    file.seek(from.toLong)
    file.readFully(bytes)
    bytes

  /** Passes the bytes from `from` to `until` on, in blocks, each with its length. */
  def blocks(from: Int, until: Int)(use: (Array[Byte], Int) => Unit): Unit =
    val block = new Array[Byte](LongText.BlockBytes.min(until - from))
    var at = from
    while at < until do
      file.seek(at.toLong)
      val count = file.read(block, 0, block.length.min(until - at))
      if count < 0 then throw EOFException("the temporary file of a statement was cut off")
      use(block, count)
      at += count

  /** Frees the file. The garbage collector does so, too. */
  def close(): Unit = file.close()

private[postgres] object LongText:
  private final val BlockBytes = 64 << 10

  def create(): LongText =
    val path = Files.createTempFile("weir-sql", ".statement").toFile
    try LongText(RandomAccessFile(path, "rw"))
    finally if !path.delete() then path.deleteOnExit()
