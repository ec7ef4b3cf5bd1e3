package weir.postgres.journal

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Base64
import weir.postgres.protocol.KeptRows

/** The rows that a command such as `\gset` needs, as one text in the journal: a line for the names
  * and one for each row, with its values in base 64 and a minus for a null.
  */
private[postgres] object RecordedRows:
  def encode(kept: KeptRows | Null): String =
    if kept eq null then ""
    else (kept.names +: kept.rows).map(_.map(encodeValue).mkString(",")).mkString("\n")

  /** Returns the rows in a text that `encode` has made. */
  def parse(text: String): KeptRows | Null =
    if text.isEmpty then null
    else
      val lines = text
        .split("\n", -1)
        .toVector
        .map: line =>
          if line.isEmpty then Vector.empty else line.split(",", -1).toVector.map(parseValue)
      KeptRows(lines.head.map(_.nn), lines.tail)

  private def encodeValue(value: String | Null): String =
    if value eq null then "-"
    else "=" + Base64.getEncoder.encodeToString(value.getBytes(ISO_8859_1))

  private def parseValue(text: String): String | Null =
    if text == "-" then null else String(Base64.getDecoder.decode(text.drop(1)), ISO_8859_1)
