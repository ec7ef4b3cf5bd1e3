package weir.cli.sql

import java.io.ByteArrayInputStream
import weir.postgres.{Piece, SqlScript}

/** Statements as the splitter makes them, which alone can. */
private[sql] object Statements:
  /** Returns the first statement of a script. */
  def of(text: String): Piece.Statement =
    val script = SqlScript.fromInputStream("script")(ByteArrayInputStream(text.getBytes))
    script.pieces.collect { case statement: Piece.Statement => statement }.toList.runSync().head
