package weir.postgres.jobs

import weir.WeirSuite
import weir.postgres.{Piece, Position}

class CopyHeadSuite extends WeirSuite:
  private def head(sql: String) =
    CopyHead.of(Piece.Statement(sql.getBytes, copies = true, Position.start, sql.length))

  test("the table is the name after COPY, however it is written"):
    for (sql, table) <- Seq(
        "COPY t FROM STDIN" -> "t",
        "copy public.t(a, b) from stdin" -> "public.t",
        "COPY /* x */ \"a b\" . \"c\"\"d\" (e) FROM STDIN" -> "\"a b\".\"c\"\"d\"",
        "COPY t$1 FROM STDIN WITH (NULL 'x')" -> "t$1",
        "COPY BINARY t FROM STDIN" -> "t",
        "COPY é.ü FROM STDIN" -> "é.ü"
      )
    do assertEquals(head(sql).table, table, sql)

  test("text without options that are about the whole file may be cut"):
    for sql <- Seq(
        "COPY t FROM STDIN",
        "COPY t (csv_id, \"binary\") FROM STDIN",
        "COPY t FROM STDIN WITH (FORMAT text, DELIMITER ',', NULL '')",
        "COPY t FROM STDIN DELIMITER '|' NULL AS 'csv '"
      )
    do assertEquals(head(sql).whole, None, sql)

  test("other formats, and options about the whole file, keep the data together"):
    for (sql, option) <- Seq(
        "COPY t FROM STDIN CSV" -> "CSV",
        "COPY t FROM STDIN WITH (FORMAT csv)" -> "CSV",
        "COPY t FROM STDIN WITH (FORMAT 'csv')" -> "CSV",
        "COPY t FROM STDIN WITH (format \"binary\")" -> "BINARY",
        "COPY BINARY t FROM STDIN" -> "BINARY",
        "COPY t FROM STDIN WITH (FREEZE)" -> "FREEZE",
        "COPY t FROM STDIN (HEADER match)" -> "HEADER",
        "COPY t FROM STDIN (ENCODING 'SJIS')" -> "ENCODING",
        "COPY t FROM STDIN (ON_ERROR ignore, REJECT_LIMIT 3)" -> "ON_ERROR"
      )
    do assertEquals(head(sql).whole, Some(option), sql)
