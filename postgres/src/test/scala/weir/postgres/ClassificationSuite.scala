package weir.postgres

import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Random
import weir.{Tier, WeirSuite}
import weir.postgres.apply.{KnownSecrets, TransactionEnd}
import weir.postgres.jobs.CopyHead
import weir.postgres.journal.StatementKind
import weir.postgres.protocol.{SessionState, SessionWatch}
import weir.postgres.split.{FollowedSettings, Splitter, Tokens}

/** Comments, white space and the case of words change nothing in what is found out about a
  * statement. `-Dweir.fuzz.seed=…` begins where another run did.
  */
class ClassificationSuite extends WeirSuite:
  import ClassificationSuite.*

  private val rounds = Tier(60, 5000)

  for tokens <- statements do
    test(s"gaps and case change nothing in ${tokens.mkString(" ")}") {
      val seed = Tier.seed("weir.fuzz.seed")
      val plain = seen(tokens.mkString(" "))
      val random = Random(seed)
      for _ <- 1 to rounds do
        val text = written(tokens, random)
        assertEquals(seen(text), plain, s"-Dweir.fuzz.seed=$seed: $text")
    }

  test("a secret behind a nested comment is hidden"):
    for text <- List(
        "ALTER ROLE a PASSWORD /* a /* b */ c */ 'hunter2'",
        "SET /* x */ LOCAL -- y\n app /* z */ . jwt /* = */ = /**/ 'hunter2'",
        "SELECT crypt /* a */ ('hunter2', x)",
        "SELECT set_config(/* a */ 'app.x' -- ,\n, /* b */ 'hunter2', false)",
        "DO 'EXECUTE ''ALTER ROLE a PASSWORD /* a /* b */ c */ ''''hunter2'''''''"
      )
    do assert(!Secrets.mask(text).contains("hunter2"), Secrets.mask(text))

  test("the value of a SET behind a comment is hidden in later messages"):
    for text <- List("/* a */ SET app.x = 'hunter2'", "SELECT 1; SET app.x = 'hunter2'") do
      val secrets = new KnownSecrets
      secrets.add(statement(text), UTF_8)
      assertEquals(secrets.known.contains("'hunter2'"), true, text)

  test("statements that are joined to others are classified, too"):
    assertEquals(TransactionEnd.of(statement("SELECT 1; COMMIT")), "COMMIT")
    assertEquals(SessionState.mayChange(statement("INSERT INTO t VALUES (1); SET x = 1")), true)
    assertEquals(StatementKind.mayRepeat(statement("ANALYZE t; INSERT INTO t VALUES (1)")), false)
    assertEquals(StatementKind.of(statement("CREATE TABLE t (); COMMIT")), StatementKind.Joined)
    assertEquals(StatementKind.of(statement("(SELECT 1); COMMIT")), StatementKind.Joined)

  test("a setting keeps all parts of its name"):
    for (text, names) <- List(
        "SET app.a.b TO x" -> List("app.a.b"),
        "SELECT 1; SET \"App\" . é = x" -> List("app.é")
      )
    do assertEquals(SessionState.dottedNames(statement(text)), names, text)

  test("names in quotes are names"):
    assertEquals(SessionState.mayChange(statement("CREATE TABLE \"pg_temp\".t (a int)")), true)
    assertEquals(SessionState.mayChange(statement("SELECT \"setval\"('s', 1)")), false)

  test("only the options of a COPY are options"):
    for (text, head) <- List(
        "COPY t (\"from\", csv, header) FROM STDIN" -> CopyHead("t", None),
        "COPY t FROM STDIN (FORMAT $$csv$$)" -> CopyHead("t", Some("CSV")),
        "COPY a /* x */ . -- y\n \"b\" FROM STDIN" -> CopyHead("a.\"b\"", None)
      )
    do assertEquals(CopyHead.of(statement(text)), head, text)

  private def statement(text: String) =
    Piece.Statement(text.getBytes(UTF_8), copies = false, Position.start, 0)

  private def followed(text: Array[Byte]) =
    val settings = FollowedSettings()
    settings.executed(text)
    settings.now

  /** All that the program finds out about a statement. */
  private def seen(text: String): List[Any] =
    val script = (text + ";SELECT 2;\n\\.\n;SELECT 3").getBytes(UTF_8)
    val pieces = ClassificationSuite.pieces(script)
    val one = statement(text)
    List(
      pieces,
      followed(one.text),
      one.leadingWords(4),
      StatementKind.of(one),
      StatementKind.mayRepeat(one),
      TransactionEnd.of(one),
      SessionState.mayChange(one),
      SessionState.dottedNames(one),
      Tokens.mention(one.text, SessionWatch.passing),
      Tokens.parts(one.text).size,
      Tokens.isCopy((text + " ;").getBytes(UTF_8)),
      Option.when(one.leadingWords(1) == List("COPY"))(CopyHead.of(one)),
      Secrets.values(text)
    )

private object ClassificationSuite:
  private val statements: List[List[String]] = List(
    "SET standard_conforming_strings = off",
    "SET LOCAL standard_conforming_strings TO 'on'",
    "SET SESSION client_encoding = 'SJIS'",
    "SET NAMES 'UTF8'",
    "SET NAMES gbk",
    "SET app . jwt = 'hunter2'",
    "SET LOCAL app . a . \"B\" TO 'hunter2' , 'x'",
    "BEGIN",
    "ROLLBACK TO SAVEPOINT s",
    "COMMIT AND NO CHAIN",
    "COMMIT PREPARED 'x'",
    "PREPARE TRANSACTION 'x'",
    "( SELECT 1 )",
    "CREATE TEMP TABLE t ( a int )",
    "CREATE OR REPLACE LOCAL TEMPORARY RECURSIVE VIEW v ( a ) AS SELECT 1",
    "CREATE TABLE \"pg_temp\" . t ( a int )",
    "CREATE FUNCTION f ( ) RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END ; END",
    "SELECT pg_catalog . setval ( 's' , 1 , true )",
    "SELECT set_config ( 'app.x' , 'hunter2' , false )",
    "SELECT pg_catalog . crypt ( 'hunter2' , gen_salt ( 'bf' ) )",
    "ALTER ROLE a PASSWORD 'hunter2'",
    "ALTER SYSTEM SET x = 1",
    "VACUUM FULL t",
    "DO $x$BEGIN;COMMIT;/*END$x$",
    "SELECT E'\\';COMMIT' , U&'\\0061' , \"a;b\" , $1 + 1.5e3",
    "COPY t FROM STDIN",
    "COPY BINARY public . t FROM STDIN",
    "COPY \"a\" . \"b;c\" ( x , \"from\" , csv ) FROM STDIN WITH ( FORMAT csv , QUOTE '''' )",
    "COPY t FROM '/file'"
  ).map(_.split(' ').toList)

  /** The statement with gaps between its tokens, and its keywords in letters of any case. */
  private def written(tokens: List[String], random: Random): String =
    def cased(c: Char) = if random.nextBoolean() then c.toLower else c
    val parts = tokens.map(token =>
      gap(random, 1) + (if token.forall(_.isUpper) then token.map(cased) else token)
    )
    parts.mkString + gap(random, 0)

  private def gap(random: Random, least: Int): String =
    List.fill(least + random.nextInt(3))(gaps(random.nextInt(gaps.size))).mkString

  private val gaps = Vector(
    " ",
    "\n",
    "\t",
    "\r\n",
    " /**/",
    " /* a /* ' */ \" $$ ; */ ",
    " -- ' ; $x$ */\n",
    " --\r",
    "/*;*/",
    " /*SET*/ "
  )

  private def pieces(script: Array[Byte]): List[String] =
    val splitter = Splitter("s.sql")
    splitter.feed(script, script.length)
    splitter.finish()
    def go(done: List[String]): List[String] =
      val piece =
        try splitter.next()
        catch case error: ScriptException => return (error.problem :: done).reverse
      piece match
        case null => done.reverse
        case statement: Piece.Statement =>
          go((if statement.copies then "copy" else "statement") :: done)
        case other => go(other.getClass.getSimpleName :: done)
    go(Nil)
