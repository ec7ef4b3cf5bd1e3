package weir.postgres.input

import java.io.{FileDescriptor, FileInputStream, InputStream}
import java.nio.channels.Channels

/** The standard input, from which several commands of a script may read, one after the other. It
  * stays open, and what one of them has read and not used is given back for the next.
  */
private[postgres] object StandardInput extends WaitingInput:
  private lazy val input: InputStream =
    Channels.newInputStream(FileInputStream(FileDescriptor.in).getChannel)
  private var left = Array.emptyByteArray

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    if left.isEmpty then input.read(bytes, from, length)
    else
      val count = length.min(left.length)
      System.arraycopy(left, 0, bytes, from, count)
      left = left.drop(count)
      count

  /** Returns the bytes of the next line, with its newline, each as a character; null at the end. */
  def line(): String | Null =
    val text = StringBuilder()
    var byte = read()
    while byte >= 0 && byte != '\n' do
      text += byte.toChar
      byte = read()
    if byte < 0 && text.isEmpty then null else text.append('\n').result()

  /** The next read begins with these bytes. */
  def giveBack(bytes: Array[Byte]): Unit = left = bytes ++ left
