package weir.postgres.journal

import scala.concurrent.duration.*
import weir.postgres.*
import weir.postgres.protocol.{Lane, SessionState}

/** Tests the settings that a new session needs from the one before. */
class RecordedSettingsSuite extends ResumeSuite:

  /** Applies `text`, cut off after each statement; the last statement notes what the session is. */
  private def everywhere(text: String, statements: Int, expected: String): Unit =
    for first <- 1 until statements do
      val database = server.newDatabase()
      dies(database, text, first)
      apply(database, text): Unit
      assertEquals(
        ask(database)("SELECT string_agg(a, ' ' ORDER BY b) FROM public.t"),
        expected,
        s"cut after $first"
      )

  private val table = "CREATE TABLE public.t (a text, b int GENERATED ALWAYS AS IDENTITY);\n"
  private def note(setting: String) =
    s"INSERT INTO public.t (a) VALUES (pg_catalog.current_setting('$setting', true));\n"

  test("settings that the script has made before are made again"):
    everywhere(
      table +
        """SET work_mem = '7MB';
          |SELECT pg_catalog.set_config('search_path', '', false);
          |SET my.x TO 'a=b''c\d';
          |SET lock_timeout = '3s';
          |RESET lock_timeout;
          |DO $$ BEGIN PERFORM pg_catalog.set_config('statement_timeout', '70s', false); END $$;
          |""".stripMargin +
        List("work_mem", "search_path", "my.x", "lock_timeout", "statement_timeout")
          .map(note)
          .mkString,
      12,
      "7MB  a=b'c\\d 0 70s"
    )

  test("a setting with a dot in its name, which may be a secret, is encrypted in the journal"):
    val database = server.newDatabase()
    val text =
      table + "SET app.secret = 'hunter2';\nSELECT set_config('app.x', 'hunter2', false);\n" +
        note("app.secret")
    dies(database, text, 3)
    val stored = ask(database)("SELECT j::text FROM weir_sql.journal j")
    assert(!stored.contains("hunter2"), stored)
    apply(database, text): Unit
    assertEquals(ask(database)("SELECT a FROM public.t"), "hunter2")
    assert(!ask(database)("SELECT j::text FROM weir_sql.journal j").contains("hunter2"))

  test("settings of a transaction last as long as it, and those that it commits longer"):
    everywhere(
      table +
        """BEGIN;
          |SET LOCAL work_mem = '7MB';
          |SET maintenance_work_mem = '9MB';
          |COMMIT;
          |BEGIN;
          |SET temp_buffers = '11MB';
          |ROLLBACK;
          |SET LOCAL work_mem = '8MB';
          |BEGIN;
          |SELECT pg_catalog.set_config('hash_mem_multiplier', '3', true);
          |COMMIT;
          |""".stripMargin +
        List("work_mem", "maintenance_work_mem", "temp_buffers", "hash_mem_multiplier")
          .map(note)
          .mkString,
      16,
      "4MB 9MB 8MB 2"
    )

  test("the role of the script is set again, though it has no right to the journal"):
    val database = server.newDatabase()
    val role = s"r_$database"
    val text = s"CREATE ROLE $role;\n" + table + s"GRANT ALL ON public.t TO $role;\n" +
      s"SET ROLE $role;\n" +
      "INSERT INTO public.t (a) VALUES (current_user);\n" * 3 +
      "BEGIN;\nINSERT INTO public.t (a) VALUES (current_user);\nCOMMIT;\n" +
      "COPY public.t (a) FROM STDIN;\nx\n\\.\n" +
      "RESET ROLE;\n" +
      s"SET SESSION AUTHORIZATION $role;\n" +
      "INSERT INTO public.t (a) VALUES (session_user);\n" +
      "RESET SESSION AUTHORIZATION;\nINSERT INTO public.t (a) VALUES (session_user);\n"
    // Again and again cut off after its next two statements.
    for _ <- 1 to 7 do dies(database, text, 2)
    apply(database, text): Unit
    assertEquals(
      ask(database)("SELECT string_agg(a, ' ' ORDER BY b) FROM public.t"),
      s"$role $role $role $role x $role postgres"
    )

  test("triggers that wait for the COMMIT run as the script's role"):
    val database = server.newDatabase()
    val role = s"d_$database"
    val text = s"CREATE ROLE $role;\n" + table +
      """CREATE TABLE public.u (a int);
        |CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS $$
        |BEGIN INSERT INTO public.t (a) VALUES (current_user); RETURN NULL; END $$;
        |CREATE CONSTRAINT TRIGGER c AFTER INSERT ON public.u DEFERRABLE INITIALLY DEFERRED
        |FOR EACH ROW EXECUTE FUNCTION public.f();
        |""".stripMargin +
      s"GRANT ALL ON public.t, public.u TO $role;\nSET ROLE $role;\n" +
      "INSERT INTO public.u VALUES (1);\nBEGIN;\nINSERT INTO public.u VALUES (1);\nCOMMIT;\n" +
      "SET ROLE NONE;\n" + s"SET SESSION AUTHORIZATION $role;\nINSERT INTO public.u VALUES (1);\n"
    apply(database, text): Unit
    assertEquals(
      ask(database)("SELECT string_agg(a, ' ') FROM public.t"),
      s"$role $role $role"
    )

  test("what a new session cannot have is named, and nothing is done without it"):
    for (make, name) <- Seq(
        "CREATE TEMP TABLE x (a int);" -> "temporary table x",
        "PREPARE x AS SELECT 1;" -> "prepared statement x",
        "SELECT pg_advisory_lock(3);" -> "advisory lock 0,3",
        "LISTEN x;" -> "LISTEN x",
        "BEGIN;\nDECLARE x CURSOR WITH HOLD FOR SELECT 1;\nCOMMIT;" -> "cursor x",
        "DO $$ BEGIN EXECUTE 'CREATE TEMP TABLE x (a int)'; END $$;" -> "temporary table x"
      )
    do
      val database = server.newDatabase()
      val text = s"$table$make\nINSERT INTO t (a) VALUES ('a');\nINSERT INTO t (a) VALUES ('b');\n"
      dies(database, text, make.split(";\n|;$").length + 1)
      val error = refused(database, text)
      assertEquals(error.detail, Some(name), text)
      val line = text.linesIterator.indexWhere(_.contains("'a'")) + 1
      assertEquals(error.position.map(_.line), Some(line.toLong))
      assertEquals(ask(database)("SELECT count(*) FROM t"), "0")
      assertEquals(apply(database, text, at(s"$line")).statements, 2L)

  test("a temporary table that ends with its transaction is no hindrance"):
    val database = server.newDatabase()
    val text =
      table + "BEGIN;\nCREATE TEMP TABLE x (a int) ON COMMIT DROP;\nCOMMIT;\n" + note("work_mem")
    dies(database, text, 4)
    assertEquals(apply(database, text).statements, 1L)

  test("a temporary table that is dropped again is no hindrance"):
    val database = server.newDatabase()
    val text = table + "CREATE TEMP TABLE x (a int);\nDROP TABLE x;\n" + note("work_mem")
    dies(database, text, 3)
    assertEquals(apply(database, text).statements, 1L)

  test("of two runs of a script one waits, and is refused if the other does not end"):
    val database = server.newDatabase()
    val impatient = ApplyOptions(resume = Some(Resume(patience = 10.millis)))
    ScriptConnection
      .open(server.unix(database))
      .use { other =>
        weir.Task {
          val lane = Lane(other, Session(other, _ => ()))
          Journal(lane, "s.sql", ScriptKey("s.sql", None, None), "token")
            .open(1.second)
            .runSync(): Unit
          val error = refused(database, table, impatient)
          assert(error.getMessage.contains(s"(server process ${lane.pid})"), error.getMessage)
          // Another script has another lock.
          apply(database, "SELECT 1", name = "other.sql"): Unit
        }
      }
      .runSync()
    assertEquals(apply(database, table, impatient).statements, 1L)

  test("a run whose row another one has taken over commits nothing more"):
    for (statement, line) <- Seq(
        "INSERT INTO t (a) VALUES ('x');" -> 3,
        "BEGIN;INSERT INTO t (a) VALUES ('x');COMMIT;" -> 3,
        "COPY t (a) FROM STDIN;\nx\n\\." -> 3
      )
    do
      val database = server.newDatabase()
      val text = table + "SELECT pg_advisory_unlock_all();\n" + statement
      val takes = new ApplyListener:
        override def statementDone(script: String, s: Piece.Statement, d: Done, n: Long): Unit =
          if s.start.line == line - 1 then
            server.admin(database)(server.execute(_, "UPDATE weir_sql.journal SET run = 'other'"))
      val error = intercept[ScriptException](apply(database, text, listener = takes))
      assert(error.getMessage.contains("another run has taken"), error.getMessage)
      assertEquals(ask(database)("SELECT count(*) FROM t"), "0")

  test("settings are what they were once they are written and read"):
    val settings = Vector("a.b" -> "x=1\ny%0A\r\\'", "search_path" -> "\"\"", "c" -> "")
    val state = SessionState(settings, Vector("temporary table t"))
    val cipher = SettingCipher(Array.fill[Byte](32)(7))
    val readable = settings.map((name, value) => (name, Option(value)))
    assertEquals(
      RecordedSettings.parse(RecordedSettings.encode(state, cipher), Some(cipher)),
      readable
    )
