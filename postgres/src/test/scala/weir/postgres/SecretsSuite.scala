package weir.postgres

import munit.FunSuite

class SecretsSuite extends FunSuite:
  private val secret = "hunter2"

  test("a secret is hidden, however it is written"):
    val quote = "$$"
    for text <- List(
        s"CREATE ROLE a LOGIN PASSWORD '$secret' VALID UNTIL 'x'",
        s"alter user a encrypted password E'$secret\\'x'",
        s"ALTER ROLE a PASSWORD'$secret'",
        s"ALTER ROLE a PASSWORD /* c */ -- d\n '$secret",
        s"ALTER ROLE a PASSWORD 'a'\n '$secret'",
        s"ALTER ROLE a PASSWORD '''$secret'",
        s"ALTER ROLE a PASSWORD U&'$secret' UESCAPE '!'",
        s"ALTER ROLE a PASSWORD $quote$secret$quote",
        s"EXECUTE 'ALTER ROLE a PASSWORD ''$secret'''",
        s"EXECUTE E'ALTER ROLE a PASSWORD \\'$secret\\''",
        s"DO 'EXECUTE ''ALTER ROLE a PASSWORD ''''$secret'''''''",
        s"""CREATE USER MAPPING FOR a SERVER s OPTIONS (user 'u', "password" '$secret')""",
        s"ALTER USER MAPPING FOR a SERVER s OPTIONS (SET password '$secret')",
        s"CREATE SERVER s OPTIONS (sslpassword '$secret', aws_secret_access_key '$secret')",
        s"CREATE SUBSCRIPTION s CONNECTION 'host=h password=$secret dbname=d' PUBLICATION p",
        s"SELECT dblink_connect('c', 'password=''$secret x'' host=h')",
        s"SELECT dblink(E'password=\\'$secret x\\' host=h', 'SELECT 1')",
        s"SELECT dblink('postgresql://u:p@$secret@h/d', 'SELECT 1')",
        s"SELECT 'jdbc:postgresql://h/d?user=u&password=$secret&ssl=true'",
        s"ALTER SYSTEM SET primary_conninfo = 'user=u passwd=$secret'",
        s"SET app.jwt = '$secret'",
        s"SET LOCAL app.a.b TO x, $secret, '$secret'",
        s"""ALTER DATABASE d SET "app".x TO $secret""",
        s"SELECT pg_catalog.set_config('app.x', 'a' || '$secret', false)",
        s"SELECT set_config(setting_name => 'app.x', new_value => '$secret', is_local => false)",
        s"UPDATE u SET h = crypt('$secret', gen_salt('bf'))",
        s"SELECT pgp_sym_encrypt(a, '$secret')",
        s"""INSERT INTO c VALUES ('{"api_key": "$secret"}'), ('smtp_password', '$secret')""",
        s"INSERT INTO u (p) VALUES ('SCRAM-SHA-256$$4096:aGFsbG8=$$$secret:YQ==')",
        s"mysql://u:$secret@h/x",
        s"u:$secret@h/x"
      )
    do assert(!Secrets.mask(text).contains(secret), s"$text\n${Secrets.mask(text)}")

  test("what is no secret stays"):
    for text <- List(
        "SET password_encryption = 'scram-sha-256'",
        "SELECT set_config('search_path', '', false)",
        "SET search_path = a, b",
        "CREATE TABLE u (password text NOT NULL, token text)",
        "COMMENT ON COLUMN u.password IS 'of the user'",
        "COPY u (name, password) FROM stdin",
        "ALTER ROLE a PASSWORD NULL",
        "SELECT '12:30:45'::time, 'a@b.example', x::text FROM t -- http://h:80/x",
        "jdbc:postgresql://h:5432/d",
        ""
      )
    do assertEquals(Secrets.mask(text), text)

  test("around the secret all stays as it is"):
    assertEquals(
      Secrets.mask(
        "ALTER ROLE a PASSWORD 'x' VALID UNTIL 'y'; SET a.b='x'; SELECT 'postgres://u:p@h/d'"
      ),
      "ALTER ROLE a PASSWORD '***' VALID UNTIL 'y'; SET a.b='***'; SELECT 'postgres://u:***@h/d'"
    )

  test("the arguments of \\bind are hidden up to the next command or the end of the line"):
    for (text, shown) <- List(
        "SELECT $1 \\bind hunter2 \\g" -> "SELECT $1 \\bind *** \\g",
        "SELECT $1, $2 \\bind a 'b \\' c' \"d e\" \\sendpipeline" ->
          "SELECT $1, $2 \\bind *** \\sendpipeline",
        "\\bind_named 's t' a b \nSELECT 'c';" -> "\\bind_named 's t' *** \nSELECT 'c';",
        "\\bind_named s\nSELECT 'c';" -> "\\bind_named s\nSELECT 'c';",
        "\\bind a\\g" -> "\\bind ***\\g",
        "\\bind 'a" -> "\\bind ***",
        "\\bind \\g" -> "\\bind \\g"
      )
    do assertEquals(Secrets.mask(text), shown)

  test("text of any length is looked through without a deep stack, and in good time"):
    for part <- List(
        "'",
        "''",
        "a:",
        "\\a",
        "password=",
        "'password', ",
        "set a.b = x,",
        "/*",
        "$",
        "\\bind a ",
        "\\bind '"
      )
    do Secrets.mask(part * (16_384 / part.length)): Unit

  test("the line of an error hides a secret whose word is on another line"):
    val text = "SELECT 1;\nALTER ROLE a PASSWORD\n  'hunter2' NONSENSE;\n"
    def line(place: String) =
      SourceLine.at(
        java.io.ByteArrayInputStream(text.getBytes),
        Position(text.indexOf(place).toLong, 1, 1)
      )
    assertEquals(line("NONSENSE"), SourceLine("  '***' ", "NONSENSE;"))
    assertEquals(line("'hunter2"), SourceLine("  ", "'***' NONSENSE;"))
    assertEquals(line("nter2"), SourceLine("  '", "***' NONSENSE;"))
