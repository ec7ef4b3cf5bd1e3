package weir.postgres.psql

import java.io.ByteArrayOutputStream
import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

/** A script that a test has put together, in parts that can be left out one by one.
  *
  * @param charset
  *   LATIN1 scripts say so in their first statement
  */
final case class Script(
    parts: Vector[Script.Part],
    charset: Charset = UTF_8,
    newline: String = "\n",
    byteOrderMark: Boolean = false,
    end: String = ""
):
  import Script.*

  def bytes: Array[Byte] = render(_ => true)

  /** The script without the data of the COPYs that the server has refused, as
    * [[Script.Data.number]] counts them: it would be run as SQL, and random data as SQL is seldom a
    * script that can be split.
    */
  def withoutDataOf(refused: Set[Int]): Array[Byte] = render(data => !refused(data.number))

  /** The text of the script to print. */
  def show: String =
    val text = String(bytes, charset)
    if text.length <= 4000 then text else s"${text.take(4000)} … (${text.length} characters)"

  private def render(keep: Data => Boolean): Array[Byte] =
    val out = ByteArrayOutputStream()
    def write(text: String): Unit = out.write(text.getBytes(charset))
    if byteOrderMark then out.write(mark)
    if charset == ISO_8859_1 then write(s"SET client_encoding = 'LATIN1';$newline")
    for part <- parts do
      write(part.sql)
      part.data.filter(keep).foreach(data => write(data.text))
    write(end)
    out.toByteArray

object Script:
  /** Text with statements, followed by the data of the COPYs that end on its last line. */
  final case class Part(
      sql: String,
      data: Vector[Data] = Vector.empty,
      endsTransaction: Boolean = false
  )

  /** Rows up to and with the `\.`, for the COPY that has the comment [[mark]] in it. */
  final case class Data(number: Int, text: String)

  /** The number of the COPY that `sql` is. */
  def copyNumber(sql: String): Option[Int] =
    "/\\*#(\\d+)\\*/".r.findFirstMatchIn(sql).map(_.group(1).toInt)

  def copyComment(number: Int): String = s"/*#$number*/"

  private val mark = Array(0xef.toByte, 0xbb.toByte, 0xbf.toByte)
