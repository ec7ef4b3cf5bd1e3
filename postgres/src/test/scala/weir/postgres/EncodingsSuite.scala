package weir.postgres

import java.util.HexFormat

/** Text in each client encoding is decoded as the server decodes it. */
class EncodingsSuite extends ServerSuite:

  /** All encodings of the server, by their names in its table, but for those that are refused by
    * name.
    */
  private lazy val names =
    val all = server.ask("postgres")(
      "SELECT string_agg(DISTINCT pg_encoding_to_char(i), ' ') FROM generate_series(0, 60) AS i " +
        "WHERE pg_encoding_to_char(i) <> ''"
    )
    all.split(' ').toVector.sorted

  test("the server's encodings are known, or refused by name"):
    assert(names.size > 35, names)
    val none = names.filter(name => Encodings.find(name).isEmpty)
    assertEquals(none.toSet, Set("EUC_JIS_2004", "MULE_INTERNAL"))

  test("each character of a single byte is what the server takes it for"):
    val single = names.filter(n => n.matches("LATIN.*|ISO_.*|WIN.*|KOI.*"))
    assert(single.size >= 26, single)
    for name <- single do
      val charset = Encodings.charset(name)
      val bytes = Array.tabulate(128)(i => (i + 128).toByte)
      val rows = server.admin("postgres") { connection =>
        server.execute(
          connection,
          """CREATE OR REPLACE FUNCTION pg_temp.one(b bytea, e text) RETURNS text
            |LANGUAGE plpgsql AS $$ BEGIN RETURN convert_from(b, e);
            |EXCEPTION WHEN OTHERS THEN RETURN ''; END $$""".stripMargin
        )
        val results = connection
          .createStatement()
          .executeQuery(
            s"SELECT string_agg(coalesce(nullif(pg_temp.one(decode(to_hex(i), 'hex'), '$name'), " +
              "''), ' '), '' " +
              "ORDER BY i) FROM generate_series(128, 255) AS i"
          )
        results.next(): Unit
        results.getString(1)
      }
      for (byte, expected) <- bytes.zip(rows) if expected != ' ' do
        assertEquals(String(Array(byte), charset), expected.toString, f"$name ${byte & 0xff}%x")
        assertEquals(expected.toString.getBytes(charset).toVector, Vector(byte), name)

  test("characters of several bytes are what the server takes them for"):
    for name <- List("EUC_CN", "EUC_JP", "EUC_KR", "EUC_TW", "UTF8") do
      val charset = Encodings.charset(name)
      val text = "的一是不了人我在有他这中大来上国" + "一二三日本語漢字" + "한국어" + "的是了我"
      for character <- text do
        for bytes <- encoded(character.toString, name) do
          val read = String(bytes, charset)
          // The JDK's table of EUC_TW has fewer.
          if !read.contains('\uFFFD') then assertEquals(read, character.toString, name)
          if !Encodings.Known(name).isUnchecked then
            assertEquals(Encodings.firstInvalid(bytes, charset), -1, s"$name $character")

  /** None if the encoding does not have it. */
  private def encoded(text: String, name: String): Option[Array[Byte]] =
    try
      Some(
        HexFormat
          .of()
          .parseHex(
            server.ask("postgres")(s"SELECT encode(convert_to('$text', '$name'), 'hex')")
          )
      )
    catch case _: java.sql.SQLException => None

  test("an error in a message of the server's is in its encoding"):
    for (name, charset) <- List("LATIN6" -> "ą", "LATIN8" -> "ŵ", "LATIN10" -> "ș") do
      val database = server.newDatabase()
      val script = s"SET client_encoding = '$name';\nSELECT "
      val bytes = script.getBytes("US-ASCII") ++ s"\"$charset\"".getBytes(Encodings.charset(name))
      val error = intercept[ScriptException](
        ScriptConnection
          .open(server.unix(database))
          .use(
            SqlScript.fromInputStream("s.sql")(java.io.ByteArrayInputStream(bytes)).applyTo(_)
          )
          .runSync()
      )
      assert(error.problem.contains(s"\"$charset\""), error.problem)
