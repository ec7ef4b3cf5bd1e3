package weir.postgres.psql

import scala.collection.mutable

/** Statements of all kinds, without the semicolon that ends them. Most succeed. */
final class RandomStatement(text: RandomText, newline: String):
  import text.{chance, name, pick, sql, string}

  /** The tables for which a CREATE with the columns `a int, b text` was sent, even if it failed. */
  val tables = mutable.ArrayBuffer.empty[String]

  private var count = 0

  private def next(): Int =
    count += 1
    count

  private def table: String = if tables.isEmpty || chance(3) then "missing" else pick(tables.toSeq*)

  /** A statement, and whether it is one that ends a transaction. */
  def any(): (String, Boolean) = text.number(20) match
    case 0 => transaction()
    case 1 => (failing(), false)
    case 2 | 3 | 4 => (definition(), false)
    case 5 => (setting(), false)
    case 6 | 7 | 8 => (createTable(), false)
    case 9 => (session(), false)
    case _ => (plain(), false)

  /** Reads or writes rows, in one statement that is no COPY FROM. */
  def plain(): String = text.number(12) match
    case 0 => sql"SELECT $number , ${string()}"
    case 1 => sql"UPDATE $table SET b = ${string()} WHERE a > $number"
    case 2 => sql"DELETE FROM $table WHERE (b = ${string()})"
    case 3 => sql"WITH w AS (SELECT $number ) INSERT INTO $table (a) SELECT * FROM w RETURNING a"
    case 4 => sql"SELECT * FROM $table WHERE b IN ( ${string()} , ${string()} )"
    case 5 => sql"COPY $table TO STDOUT"
    case 6 => sql"COPY (SELECT ${string()} ) TO STDOUT (FORMAT csv)"
    case 7 => sql"EXPLAIN SELECT $number"
    case _ => sql"INSERT INTO $table VALUES ( $number , ${string()})"

  private def number: String = pick(
    "1",
    "-7",
    "1+/*;*/2",
    "3*-1",
    if text.oneLine then "4" else s"4--;$newline+5",
    "(((6)))",
    "CASE WHEN true THEN 7 END",
    "length($$;$$)",
    "@ -8",
    "(SELECT 9 AS end)",
    "10::int4",
    "(ARRAY[1,2,3])[2]",
    "'11'::int",
    "1.e1::int",
    "(1 <> 2)::int",
    "length(B'101')",
    "x'1F'::int",
    "length('a' || E'\\';')"
  )

  def createTable(): String =
    val created = name("t", next())
    tables += created
    val kind = pick("TABLE", "TABLE", "TABLE IF NOT EXISTS", "UNLOGGED TABLE", "TEMP TABLE")
    val a = pick("", "", " CHECK (a > -100)", " DEFAULT 1", " NOT NULL", " UNIQUE")
    val b = pick("", "", s" DEFAULT ${string()}", s" CHECK (b <> ${string()})")
    sql"CREATE $kind $created (a int$a , b text$b )"

  private def definition(): String = text.number(11) match
    case 0 =>
      val body =
        s"BEGIN$newline  RAISE NOTICE ';';$newline$newline  RETURN ${string()};${newline}END"
      val function = name("f", next())
      sql"CREATE OR REPLACE FUNCTION $function () RETURNS text LANGUAGE plpgsql AS ${dollar(body)}"
    case 1 =>
      val function = name("f", next())
      val body = dollar("SELECT $1;")
      sql"CREATE FUNCTION $function (int, b text DEFAULT ';') RETURNS int AS $body LANGUAGE sql"
    case 2 =>
      val function = name("f", next())
      val cases = sql"SELECT CASE WHEN true THEN $number ELSE 2 END;"
      sql"CREATE FUNCTION $function () RETURNS int BEGIN ATOMIC SELECT $number ; $cases END"
    case 3 =>
      val body = dollar("BEGIN NULL; END")
      sql"CREATE OR REPLACE FUNCTION fn_atomic () RETURNS void LANGUAGE plpgsql AS $body"
    case 4 =>
      val rule = name("r", next())
      sql"CREATE RULE $rule AS ON INSERT TO $table DO ALSO (SELECT ${string()} ; SELECT 2 ;)"
    case 5 => sql"CREATE VIEW ${name("v", next())} AS SELECT ${string()} AS x, $number AS y"
    case 6 => sql"COMMENT ON TABLE $table IS ${string()}"
    case 7 => sql"CREATE INDEX ON $table ((b || ${string()} ))"
    case 8 =>
      val procedure = name("p", next())
      val value = string()
      sql"CREATE PROCEDURE $procedure () BEGIN ATOMIC INSERT INTO $table VALUES (1, $value ); END"
    case 9 => sql"CREATE TYPE ${name("e", next())} AS ENUM ( ${string("x")} , ${string("y;")})"
    case _ => sql"ALTER TABLE $table ADD COLUMN IF NOT EXISTS ${pick("c", "\"c;\"")} int DEFAULT 5"

  /** The body of a function. Weir refuses to split text that would close it too early, or stay open
    * to the end of the file.
    */
  private def dollar(body: String): String =
    val tags = Vector("$$", "$_$", "$body$").filter(tag => (body + tag).indexOf(tag) == body.length)
    val tag = pick(tags*)
    tag + body + tag

  private def setting(): String = pick(
    sql"SET client_min_messages = ${pick("warning", "error", "notice")}",
    sql"SET DateStyle TO ${pick("'ISO, DMY'", "'German, DMY'", "'SQL, MDY'", "'Postgres'")}",
    sql"SET TIME ZONE ${pick("'UTC'", "'America/New_York'", "5")}",
    sql"SET search_path TO public, pg_catalog",
    sql"SET statement_timeout = 0",
    sql"SET LOCAL work_mem = '2MB'",
    sql"RESET ${pick("search_path", "DateStyle", "timezone")}",
    sql"SELECT pg_catalog.set_config('search_path', 'public', false)"
  )

  /** Statements that affect this session. */
  private def session(): String =
    val one = next()
    pick(
      sql"PREPARE p$one (int) AS SELECT $$1+$$1, ${string()}",
      sql"DO ${dollar("BEGIN PERFORM 1; END")}",
      sql"CREATE TEMP TABLE tt$one (a int) ON COMMIT DROP",
      sql"LOCK TABLE $table",
      sql"VACUUM $table",
      sql"DISCARD ${pick("PLANS", "TEMP")}",
      sql"NOTIFY ch$one , ';'",
      sql"DECLARE c$one CURSOR WITH HOLD FOR SELECT 1",
      sql"DO ${dollar("BEGIN COMMIT; END")}",
      sql"SELECT lo_from_bytea( ${50_000 + one} , '\x00ff')",
      sql"INSERT INTO $table SELECT 1, '2020-02-01Z'::timestamptz::text || ${string()}"
    )

  private def transaction(): (String, Boolean) = pick(
    (
      sql"${pick("BEGIN", "begin", "START TRANSACTION", "BEGIN ISOLATION LEVEL SERIALIZABLE")}",
      false
    ),
    (sql"BEGIN WORK", false),
    (sql"${pick("COMMIT", "END", "COMMIT WORK", "end transaction")}", true),
    (sql"${pick("ROLLBACK", "ABORT", "COMMIT AND CHAIN")}", true),
    (sql"SAVEPOINT s", false),
    (sql"ROLLBACK TO SAVEPOINT s", false),
    (sql"RELEASE s", false)
  )

  private def failing(): String =
    val missing = s"missing_${next()}"
    val raise = "BEGIN RAISE EXCEPTION 'é%', 1 USING ERRCODE='WE001', DETAIL='d;', HINT='h'; END"
    pick(
      sql"SELECT ${string()} , $missing",
      sql"SELEC ${string()}",
      sql"SELECT $number / 0",
      sql"SELECT ${string("no number")} ::int",
      sql"SELECT 1))",
      sql"INSERT INTO $missing VALUES ( ${string()} )",
      sql"DO ${dollar(raise)}",
      sql"DO ${dollar(s"BEGIN$newline EXECUTE 'SELECT $missing'; END")}",
      sql"CREATE TABLE $table (a int)",
      sql"SELECT $missing ( ${string()} )"
    )
