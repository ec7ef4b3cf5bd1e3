package weir.postgres.journal

import java.util.HexFormat
import weir.postgres.Resume
import weir.postgres.protocol.SessionState

/** A row of the journal: the part of a script that has been applied.
  *
  * @param run
  *   the token of the run that wrote it last
  * @param pieces
  *   the number of pieces that have been applied; a COPY with its data is one
  * @param bytes
  *   the byte at which the last of them ends
  * @param place
  *   the place at which the last of them begins, as `line:column`
  * @param checksum
  *   of the script's bytes up to there
  * @param chain
  *   the statement that opens the transaction of the next piece, after COMMIT AND CHAIN
  * @param uncertain
  *   the place, as `line:column`, of a statement after those pieces that was started outside of a
  *   transaction
  * @param settings
  *   the settings of the session, as `RecordedSettings.encode` makes them; none if they are not
  *   known
  * @param bound
  *   the things that ended with the session, such as temporary tables
  * @param applied
  *   when
  */
private[postgres] final case class JournalEntry(
    run: String,
    pieces: Long,
    bytes: Long,
    place: String,
    checksum: Array[Byte],
    chain: Option[String],
    uncertain: Option[String],
    settings: Option[String],
    bound: Vector[String],
    applied: String
):
  def before: Resume.Before = Resume.Before(pieces, bytes, place, applied)

private[postgres] object JournalEntry:
  val columns: Vector[String] = Vector(
    "run",
    "pieces",
    "bytes",
    "place",
    "checksum",
    "coalesce(chain, '')",
    "coalesce(uncertain, '')",
    "settings IS NOT NULL",
    "coalesce(settings, '')",
    "coalesce(bound, '')",
    "coalesce(pg_catalog.to_char(applied, 'YYYY-MM-DD HH24:MI:SS TZ'), '')"
  )

  def of(row: Vector[String]): JournalEntry = JournalEntry(
    run = row(0),
    pieces = count("pieces", row(1)),
    bytes = count("bytes", row(2)),
    place = row(3),
    checksum = sum(row(4)),
    chain = Option(row(5)).filter(_.nonEmpty),
    uncertain = Option(row(6)).filter(_.nonEmpty),
    settings = Option.when(row(7) == "t")(row(8)),
    bound = row(9).linesIterator.filter(_.nonEmpty).toVector,
    applied = row(10)
  )

  private def count(column: String, text: String): Long =
    text.toLongOption.filter(_ >= 0).getOrElse {
      throw IllegalArgumentException(s"$column is $text, which is no count")
    }

  /** **Fails** if it is no SHA-256.
    */
  def sum(text: String): Array[Byte] =
    if !text.matches("[0-9a-f]{64}") then
      throw IllegalArgumentException(s"checksum is ${text.take(80)}, which is no SHA-256")
    HexFormat.of().parseHex(text)

/** The record that is written with a piece.
  *
  * @param key
  *   encrypts the secrets in the state
  */
private[postgres] final case class Applied(
    pieces: Long,
    bytes: Long,
    place: String,
    checksum: Array[Byte],
    key: Array[Byte],
    chained: Boolean,
    state: Option[SessionState]
)

/** A part of a COPY that has been committed by itself.
  *
  * @param piece
  *   the number of pieces that come before the COPY
  * @param part
  *   its number, from 0
  * @param parts
  *   of how many
  * @param bytes
  *   the byte at which the COPY ends
  * @param checksum
  *   of the script's bytes up to there
  */
private[postgres] final case class Part(
    piece: Long,
    part: Int,
    parts: Int,
    bytes: Long,
    checksum: Array[Byte]
)

private[postgres] object Part:
  def of(row: Vector[String]): Part = Part(
    row(0).toLong,
    row(1).toInt,
    row(2).toInt,
    row(3).toLong,
    JournalEntry.sum(row(4))
  )
