package weir.postgres.split

import weir.WeirSuite

class FollowedSettingsSuite extends WeirSuite:
  private val off = Reading.standard.copy(standardStrings = false)
  private val sjis = Reading.standard.in("SJIS")

  private def after(initial: Reading, isInTransaction: Boolean, statements: String*): Reading =
    val settings = FollowedSettings(initial, isInTransaction)
    statements.foreach(text => settings.executed(text.getBytes("UTF-8")))
    settings.now

  private def after(statements: String*): Reading =
    after(Reading.standard, isInTransaction = false, statements*)

  for text <- List(
      "SET /* a /* b */ c */ standard_conforming_strings = off",
      "/* a */ SET \"Standard_Conforming_Strings\" TO 'no'",
      "SET standard_conforming_strings = /* on */ 0",
      "SET standard_conforming_strings = $$f$$",
      "SET standard_conforming_strings = 'of'\n'f'",
      "SET SESSION\u000bstandard_conforming_strings\u000b=\u000boff"
    )
  do test(s"strings with backslashes after $text")(assertEquals(after(text), off))

  for (text, characters) <- List(
      "SET LOCAL/**/NAMES--\n'shift_jis_2004'" -> Characters.Sjis,
      "SET client_encoding = U&'gbk'" -> Characters.Two,
      "set names johab" -> Characters.Euc,
      "SET SESSION client_encoding TO \"GB-18030\"" -> Characters.Gb18030
    )
  do
    test(s"characters after $text"):
      val now = after(Reading.standard, isInTransaction = true, text)
      assertEquals(now.characters, characters)
      assert(now.standardStrings)

  for text <- List(
      "SET standard_conforming_strings = on",
      "SET standard_conforming_strings TO DEFAULT",
      "SET standard_conforming_strings FROM CURRENT",
      "SET standard_conforming_strings = tr",
      "SET standard_conforming_strings = E'\\157ff'",
      "SET U&\"standard\\005fconforming_strings\" = off",
      "SET standard_conforming_strings /* = off */ = true",
      "SET x = 'standard_conforming_strings = off'",
      "SET app.standard_conforming_strings = off",
      "SET LOCAL standard_conforming_strings = off", // outside of a transaction
      "SET NAMES 'UTF8'",
      "SET client_encoding = 'utf-8'",
      "SET NAMES",
      "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
      "SET",
      ""
    )
  do test(s"nothing changes after '$text'")(assertEquals(after(text), Reading.standard))

  test("RESET and DISCARD set what the session has begun with"):
    for
      text <- List("RESET ALL", "DISCARD ALL", "RESET Standard_Conforming_Strings")
      initial <- List(Reading.standard, off)
    do
      val other = s"SET standard_conforming_strings = ${!initial.standardStrings}"
      assertEquals(after(initial, isInTransaction = false, other, text), initial, text)
    assertEquals(after("SET NAMES 'sjis'", "DISCARD PLANS"), sjis)
    assertEquals(after("SET NAMES 'sjis'", "RESET client_encoding"), Reading.standard)

  test("what SET LOCAL sets ends with its transaction, and what SET sets is rolled back"):
    val (set, local) = ("SET NAMES 'sjis'", "SET LOCAL standard_conforming_strings = off")
    val both = sjis.copy(standardStrings = false)
    for (statements, reading) <- List(
        List("BEGIN", set, local) -> both,
        List("START TRANSACTION", set, local, "END") -> sjis,
        List("BEGIN", set, local, "PREPARE TRANSACTION 'a'") -> sjis,
        List("BEGIN", set, local, "ROLLBACK PREPARED 'a'") -> both,
        List("BEGIN", local, set, "COMMIT AND CHAIN") -> sjis,
        List("BEGIN", set, local, "ROLLBACK") -> Reading.standard,
        List(set, "BEGIN", local, "BEGIN", "ABORT") -> sjis,
        List("BEGIN", "SAVEPOINT a", set, "ROLLBACK TO a") -> sjis, // not followed
        List("BEGIN", "SAVEPOINT a", set, "ROLLBACK WORK TO a") -> sjis,
        List("BEGIN", "COMMIT", set, "ROLLBACK") -> sjis
      )
    do assertEquals(after(statements*), reading, statements)
