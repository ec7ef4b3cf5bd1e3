package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable.ListBuffer
import weir.postgres.{Piece, Position, ScriptException, ScriptLimits}

/** The pieces of a script, with the data of each COPY joined, so that they can be compared however
  * the script was cut.
  */
final case class Splits(parts: List[Splits.Part], error: Option[String])

object Splits:
  enum Part:
    case Statement(text: String, start: Position, positions: List[Position])
    case Copy(text: String, start: Position, data: String, end: Option[Position])
    case Command(name: String, arguments: List[String], start: Position)

  /** The input, cut into blocks that end at `cuts` and at its end. */
  def of(
      script: Array[Byte],
      cuts: Iterable[Int],
      limits: ScriptLimits = ScriptLimits.default
  ): Splits =
    val blocks = (cuts.toList :+ script.length).foldLeft((0, List.empty[Array[Byte]])) {
      case ((from, done), to) => (to, script.slice(from, to) :: done)
    }
    ofBlocks(blocks._2.reverse, limits)

  def whole(script: Array[Byte], limits: ScriptLimits = ScriptLimits.default): Splits =
    of(script, Nil, limits)

  def bytewise(script: Array[Byte], limits: ScriptLimits = ScriptLimits.default): Splits =
    of(script, 1 until script.length, limits)

  /** The script split with so little memory that nearly each statement is in a file; none if it is
    * refused for that.
    */
  def inFiles(script: Array[Byte], cuts: Iterable[Int]): Option[Splits] =
    Option(of(script, cuts, ScriptLimits(memoryBytes = 3)))
      .filterNot(_.error.exists(_.contains("of more than 3 bytes")))

  def whole(script: String): Splits = whole(script.getBytes(UTF_8))

  def ofBlocks(blocks: List[Array[Byte]], limits: ScriptLimits): Splits =
    val pieces = ListBuffer[Piece]()
    val splitter = Splitter("s.sql", limits)
    def drain(): Unit =
      var piece = splitter.next()
      while piece ne null do
        pieces += piece.nn
        piece = splitter.next()
    val error =
      try
        for block <- blocks do
          splitter.feed(block, block.length)
          drain()
        splitter.finish()
        drain()
        None
      catch case e: ScriptException => Some(e.getMessage)
    Splits(together(pieces.toList), error)

  private def together(pieces: List[Piece]): List[Part] =
    var offset = 0L
    for piece <- pieces do
      if piece.endOffset < offset then throw AssertionError(s"${piece.endOffset} after $offset")
      offset = piece.endOffset
      piece match
        case data: Piece.CopyData => checkNewlines(data)
        case _ => ()
    def go(left: List[Piece], done: List[Part]): List[Part] = left match
      case Nil => done.reverse
      case (s: Piece.Statement) :: rest if s.copies =>
        val (data, after) = rest.span(_.isInstanceOf[Piece.CopyData])
        val bytes = data.collect { case d: Piece.CopyData =>
          d.bytes.slice(d.from, d.from + d.length)
        }
        val (end, next) = after match
          case (e: Piece.CopyEnd) :: next => (Some(e.start), next)
          case other => (None, other)
        go(next, Part.Copy(text(s), s.start, latin(bytes.toArray.flatten), end) :: done)
      case (c: Piece.Command) :: rest =>
        go(rest, Part.Command(c.name, c.arguments, c.start) :: done)
      case (s: Piece.Statement) :: rest =>
        val positions = (0 until s.sizeBytes).map(s.positionOfByte).toList
        go(rest, Part.Statement(text(s), s.start, positions) :: done)
      case other :: _ => throw AssertionError(s"not after a copy: $other")
    go(pieces, Nil)

  private def checkNewlines(data: Piece.CopyData): Unit =
    val bytes = data.bytes.slice(data.from, data.from + data.length)
    val real = if bytes.contains('\\'.toByte) then -1 else bytes.count(_ == '\n')
    val said = data.plainNewlines
    if said != real && said != -1 then throw AssertionError(s"$said newlines instead of $real")

  /** Each byte a character, so that no two inputs look the same. */
  def latin(bytes: Array[Byte]): String =
    String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1)

  private def text(statement: Piece.Statement): String =
    val all = java.io.ByteArrayOutputStream()
    statement.foreachBlock(all.write(_, 0, _))
    latin(all.toByteArray)
