package weir.cli.sql

import java.io.{PrintWriter, StringWriter}

import munit.FunSuite

/** Tests that secrets in a script, or in an address, are not shown. */
class SqlSecretsSuite extends FunSuite with SqlFixture:
  private val secret = "hunter2"

  private def assertHidden(text: String): Unit = assert(!text.contains(secret), text)

  private val withSecrets = List(
    s"CREATE ROLE r_a LOGIN ENCRYPTED PASSWORD '$secret';",
    s"ALTER USER r_a PASSWORD\n  '$secret';",
    s"ALTER ROLE r_a PASSWORD $$x$$$secret$$x$$;",
    s"DO 'BEGIN EXECUTE ''ALTER ROLE r_a PASSWORD ''''$secret''''''; END';",
    s"SET app.jwt = '$secret';",
    s"SELECT set_config('app.x', '$secret', false);",
    s"ALTER ROLE r_a SET app.jwt TO '$secret';",
    s"SELECT 'postgresql://u:$secret@h/x', 'host=h password=$secret', 'jdbc:x?password=$secret';",
    s"CREATE FOREIGN DATA WRAPPER w_a; CREATE SERVER s_a FOREIGN DATA WRAPPER w_a;",
    s"CREATE USER MAPPING FOR r_a SERVER s_a OPTIONS (user 'u', password '$secret');",
    s"DROP USER MAPPING FOR r_a SERVER s_a; DROP SERVER s_a; DROP FOREIGN DATA WRAPPER w_a;",
    "DROP ROLE r_a;"
  )

  folder.test("the slowest statements show no secret"): folder =>
    val script = withSecrets.mkString("\n")
    val result = applied(folder, newDatabase(), script, "--slowest", "50", "--json", s"$folder/j")
    assertEquals(result.code, 0, result.err)
    assertHidden(result.err)
    // a statement that is short enough to be shown whole beside the path of the script
    assert(clue(result.out).contains("SET app.jwt = '***'"))
    assertHidden(result.out)
    assertHidden(java.nio.file.Files.readString(folder.resolve("j")))

  folder.test("an error shows no secret: not in the line, nor in what the server says"): folder =>
    val url = newDatabase()
    for statement <- List(
        s"CREATE ROLE r_b PASSWORD '$secret' NONSENSE;",
        s"CREATE ROLE r_b NONSENSE PASSWORD\n'$secret';",
        s"CREATE ROLE r_b PASSWORD\n'$secret' NONSENSE;",
        s"ALTER ROLE r_b PASSWORD '$secret' '$secret';",
        s"ALTER ROLE no_such_role PASSWORD '$secret';",
        s"SET no_such.x.y TO '$secret' '$secret';",
        s"DO $$$$ BEGIN EXECUTE 'ALTER ROLE no_such_role PASSWORD ''$secret'''; END $$$$;",
        s"DO $$$$ BEGIN RAISE 'no: %', 'password=$secret'; END $$$$;",
        s"DO $$$$ BEGIN RAISE WARNING 'no: %', 'x://u:$secret@h'; END $$$$; SELECT x;",
        s"SET app.x = '$secret'; SELECT current_setting('app.x')::int;"
      )
    do
      val result = applied(folder, url, statement)
      assertEquals(result.code, 3, result.err)
      assert(result.err.contains("ERROR: "), result.err)
      assertHidden(result.err)

  folder.test("what is left of a statement that cannot be split shows no secret"): folder =>
    val script = s"SELECT 1;\nALTER ROLE a PASSWORD '$secret;\n"
    val result = applied(folder, newDatabase(), script)
    assertEquals(result.code, 3, result.err)
    assertHidden(result.err)

  folder.test("an address that is mistyped shows no password"): folder =>
    val file = write(folder, "a.sql", "SELECT 1").toString
    for
      url <- List(
        s"mysql://u:$secret@h/x",
        s"mysql://u:$secret@h/x?a=b",
        s"postgresq://u:$secret@localhost:1/x",
        s"postgresql:/u:$secret@localhost:1/x",
        s"u:$secret@localhost:1/x",
        s"postgresql://u:p/$secret@localhost:1/x",
        s"postgresql://u:p?$secret@localhost:1/x",
        s"postgresql://u:1/$secret@localhost:1/x",
        s"postgresql://u:$secret@localhost:x/x",
        s"postgresql://u:$secret@localhost:1/x",
        s"postgresql://u:a@$secret@localhost:1/x",
        s"jdbc:mysql://u:$secret@h/x",
        s"jdbc:oracle:thin:u:$secret@h/x",
        s"jdbc:postgresql://u:$secret@localhost:1/x",
        s"jdbc:postgresql://localhost:x/x?user=u&password=$secret",
        s"jdbc:postgresql://localhost:1/x?user=u&password=$secret",
        s"dbname=postgresql://u:$secret@localhost:1/x",
        s"host=localhost port=1 password=$secret dbname=x",
        s"host=localhost port=1 pasword=$secret dbname=x"
      )
      arguments <- List(Seq("--db", url, file), Seq("--bd", url, file), Seq(url))
    do
      val (result, logged) = logging(weir(arguments*))
      assert(result.code == 1 || result.code == 2, s"$url: $result")
      assert(result.err.linesIterator.size <= 4, s"$url: ${result.err}")
      assertHidden(s"$url: ".replace(secret, "") + result.out + result.err + logged)

  folder.test("statements are listed only on a terminal, or where --slowest asks for them"):
    folder =>
      val url = newDatabase()
      assertEquals(applied(folder, url, "SELECT 1;SELECT 2").out.linesIterator.size, 1)
      val asked = applied(folder, url, "SELECT 1;SELECT 2", "--slowest", "1")
      assert(clue(asked.out).contains("the slowest statement:"))

  /** Returns the messages of the JDK's own log meanwhile, which go to standard error. */
  private def logging[A](body: => A): (A, String) =
    val text = StringWriter()
    val handler = new java.util.logging.Handler:
      def publish(record: java.util.logging.LogRecord): Unit =
        val words = Option(record.getParameters).fold("")(_.mkString(" "))
        PrintWriter(text, true).println(s"${record.getMessage} $words ${record.getThrown}")
      def flush(): Unit = ()
      def close(): Unit = ()
    val root = java.util.logging.Logger.getLogger("")
    root.addHandler(handler)
    try (body, text.toString)
    finally root.removeHandler(handler)
