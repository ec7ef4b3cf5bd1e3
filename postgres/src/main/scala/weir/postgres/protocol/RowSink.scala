package weir.postgres.protocol

import java.nio.ByteBuffer

/** Receives the results of statements as the server sends them, on the thread that reads the
  * socket. No method may fail.
  */
private[postgres] trait RowSink:
  /** The columns of the rows that follow: their names, and the numbers of their types. */
  def columns(names: Vector[Array[Byte]], types: Vector[Int]): Unit
  def row(values: Array[Array[Byte] | Null]): Unit

  /** The data of a `COPY … TO STDOUT` follows. */
  def copyBegins(): Unit
  def copied(data: Array[Byte]): Unit

  /** A statement has run. */
  def completed(tag: String): Unit

  /** A statement has failed, perhaps after some of its rows. */
  def failed(): Unit

  /** A statement whose columns were asked for has none. */
  def describedNone(): Unit = ()

private[postgres] object RowSink:
  /** Reads a message about rows. */
  private[postgres] def feed(sink: RowSink, kind: Byte, body: Array[Byte]): Unit = kind match
    case 'T' =>
      val columns = columnsOf(body)
      sink.columns(columns.map(_.name), columns.map(_.kind))
    case 'D' =>
      val in = ByteBuffer.wrap(body)
      sink.row(Array.fill(in.getShort.toInt)(value(in)))
    case 'H' => sink.copyBegins()
    case 'd' => sink.copied(body)
    case _ => ()

  /** @param kind
    *   the number of its type
    * @param modifier
    *   of the type, such as its length
    */
  final case class Column(name: Array[Byte], kind: Int, modifier: Int)

  /** Returns the columns that a RowDescription has. */
  private[protocol] def columnsOf(body: Array[Byte]): Vector[Column] =
    val in = ByteBuffer.wrap(body)
    Vector.fill(in.getShort.toInt)(column(in))

  /** A name, the table and the column that it is of, its type, the length and the modifier of that,
    * and a format.
    */
  private def column(in: ByteBuffer): Column =
    val from = in.position
    while in.get() != 0 do ()
    val name = java.util.Arrays.copyOfRange(in.array, from, in.position - 1)
    in.position(in.position + 6): Unit
    val kind = in.getInt()
    in.position(in.position + 2): Unit
    val modifier = in.getInt()
    in.position(in.position + 2): Unit
    Column(name, kind, modifier)

  private def value(in: ByteBuffer): Array[Byte] | Null =
    val length = in.getInt()
    if length < 0 then null
    else
      val bytes = new Array[Byte](length)
      in.get(bytes): Unit
      bytes
