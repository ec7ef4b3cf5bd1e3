package weir.postgres

class CopyContextSuite extends munit.FunSuite:
  private def of(context: String) = CopyContext.of(context).map(c => (c.row, c.column))

  test("row and column are found in any language"):
    val row = Some((17L, Some("c")))
    assertEquals(of("COPY t, line 17, column c: \"x\""), row)
    assertEquals(of("COPY t, Zeile 17, Spalte c: »x«"), row)
    assertEquals(of("COPY t, ligne 17, colonne c : « x »"), row)
    assertEquals(of("COPY t, línea 17, columna c: «x»"), row)
    assertEquals(of("COPY t, строка 17, столбец c: \"x\""), row)
    assertEquals(of("COPY t, 行 17, 列 c: \"x\""), row)
    assertEquals(of("tのCOPY、行 17、列 c: \"x\""), row)
    assertEquals(of("t 복사, 17번째 줄, c 열: \"x\""), row)

  test("a null, a row without a column, a row alone"):
    assertEquals(of("COPY t, line 3, column my col: null input"), Some((3L, Some("my col"))))
    assertEquals(of("COPY t, line 3: \"a, 5, b: c\""), Some((3L, None)))
    assertEquals(of("COPY t, line 3"), Some((3L, None)))

  test("names and values that look like the rest"):
    assertEquals(of("COPY t5, line 3, column c 7: \"line 9, column d: \""), Some((3L, Some("c 7"))))
    assertEquals(of("COPY t, line 3, column a, 5: b: \"x\""), Some((3L, Some("a, 5: b"))))

  test("the COPY comes after the code that ran for the row"):
    val context = "PL/pgSQL function f() line 1 at RAISE\nCOPY t, line 4: \"1\""
    assertEquals(of(context), Some((4L, None)))
    assertEquals(of("PL/pgSQL function f() line 1 at RAISE"), None)
    assertEquals(CopyContext.of(null), None)
