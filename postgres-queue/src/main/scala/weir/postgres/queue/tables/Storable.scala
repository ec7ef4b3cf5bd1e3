package weir.postgres.queue.tables

import java.nio.charset.StandardCharsets.UTF_8
import java.sql.Connection
import java.time.Instant

import org.postgresql.PGConnection
import weir.postgres.queue.{PgCodec, PgOffer, PgQueueException}
import weir.postgres.queue.PgQueueException.Kind

/** Offers with their payloads encoded, checked for what Postgres cannot store in text. */
private[queue] final class Storable private (
    val payloads: Array[AnyRef],
    val offers: Vector[PgOffer[Any]]
)

private[queue] object Storable:
  private val longestError = 4000

  /** An entry of an index has at most 2,704 bytes. */
  private val longestKey = 2600
  private val firstTime = Instant.parse("0001-01-01T00:00:00Z")
  private val lastTime = Instant.parse("9999-12-31T23:59:59.999999999Z")

  /** Encodes and checks `offers`. **Fails** with `Kind.NotStorable`, whose message names the offer:
    * the server would refuse all of them with a message that names none, or store another text.
    */
  def apply[A](table: String, codec: PgCodec[A], offers: Vector[PgOffer[A]]): Storable =
    val payloads = offers.map(offer => codec.encode(offer.payload))
    for ((offer, payload), index) <- offers.zip(payloads).zipWithIndex do
      def refused(what: String, problem: String, rule: String) = PgQueueException(
        Kind.NotStorable,
        s"PgQueue: $table: the $what of offer ${index + 1} of ${offers.size} $problem. $rule"
      )
      def refusedText(what: String, problem: String, instead: String) =
        refused(
          what,
          s"has $problem",
          s"Postgres cannot store it in text. Remove it$instead."
        )
      payload match
        case text: String =>
          for problem <- problemIn(text).orElse(escapeIn(text, codec.column)) do
            throw refusedText("payload", problem, ", or use PgCodec.bytes")
        case _ => ()
      for key <- offer.key do
        for problem <- problemIn(key) do throw refusedText("key", problem, "")
        val bytes = key.getBytes(UTF_8).length
        if bytes > longestKey then
          throw refused(
            "key",
            s"has $bytes bytes",
            s"It may have at most $longestKey, since it is in an index. Use a hash of it."
          )
      for time <- offer.runAt if time.isBefore(firstTime) || time.isAfter(lastTime) do
        throw refused(
          "runAt",
          s"is $time",
          "It must be in the years 1 to 9999. For at once, leave it out."
        )
    // The driver wants arrays of bytes in an array of those.
    val stored: Array[? <: AnyRef] =
      if codec.column == PgCodec.Column.Bytes then
        payloads.map(_.asInstanceOf[Array[Byte]]).toArray[Array[Byte]]
      else payloads.toArray
    new Storable(stored.asInstanceOf[Array[AnyRef]], offers)

  /** Returns the first thing in `text` that Postgres cannot store: U+0000, or a surrogate without
    * its other half, for which the driver would send a `?`.
    */
  def problemIn(text: String): Option[String] =
    var index = 0
    var problem = Option.empty[String]
    while index < text.length && problem.isEmpty do
      val char = text.charAt(index)
      if char == 0 then problem = Some(s"the character U+0000 at index $index")
      else if char.isSurrogate then
        val isPair = char.isHighSurrogate && index + 1 < text.length &&
          text.charAt(index + 1).isLowSurrogate
        if isPair then index += 1
        else problem = Some(f"half a character, U+${char.toInt}%04X, at index $index")
      index += 1
    problem

  /** Returns the first escape of U+0000 in JSON, which a `jsonb` cannot hold either. */
  private def escapeIn(text: String, column: PgCodec.Column): Option[String] =
    if column != PgCodec.Column.Jsonb then None
    else
      Iterator
        .iterate(text.indexOf(nul))(at => text.indexOf(nul, at + 1))
        .takeWhile(_ >= 0)
        .find(at => text.take(at).reverseIterator.takeWhile(_ == '\\').size % 2 == 0)
        .map(at => s"the escape $nul at index $at")

  private val nul = "\\" + "u0000"

  /** Returns the error of an attempt, as its column in this database can hold it: in another
    * encoding than UTF-8, with a `?` for each character that is not ASCII.
    */
  def error(text: String, connection: Connection): String =
    val encoding = connection.unwrap(classOf[PGConnection]).getParameterStatus("server_encoding")
    val isAnyText = encoding == null || encoding == "UTF8" || encoding == "SQL_ASCII"
    if isAnyText then error(text)
    else error(text).codePoints.toArray.map(c => if c < 128 then c.toChar else '?').mkString

  /** Returns the error of an attempt without what no database can hold. */
  def error(text: String): String = text.replace('\u0000', ' ').take(longestError)

  /** As `error`, of an exception, whose own methods may fail. */
  def error(thrown: Throwable): String =
    val text =
      try Option(thrown.toString)
      catch case _: Throwable => None
    error(text.getOrElse(thrown.getClass.getName))
