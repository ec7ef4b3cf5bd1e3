package weir.postgres.psql

import java.sql.Connection

/** All that a database holds, as lines that are equal where databases are. */
object DatabaseContents:
  def of(server: LoggedServer, database: String): Vector[String] = server.admin(database) {
    connection =>
      def all(kind: String, query: String) =
        LoggedServer.rows(connection, query).map(row => s"$kind $row")
      rows(connection) ++ definitions.flatMap(all(_, _))
  }

  /** Makes the database empty again. */
  def clear(server: LoggedServer, database: String): Unit = server.execute(database, clearing)

  private def rows(connection: Connection): Vector[String] =
    val relations = LoggedServer.rows(
      connection,
      s"""SELECT format('%I.%I', nspname, relname) FROM pg_class c
        JOIN pg_namespace n ON n.oid = relnamespace
          WHERE relkind IN ('r', 'm', 'p', 'S') AND $own ORDER BY 1"""
    )
    relations.flatMap { relation =>
      // The rows in the order of their insertion.
      val order =
        if isSequence(connection, relation) then "" else "ORDER BY tableoid::regclass::text, ctid"
      LoggedServer
        .rows(connection, s"SELECT r::text FROM $relation r $order")
        .map(row => s"$relation: $row")
    }

  private def isSequence(connection: Connection, relation: String): Boolean =
    val quoted = relation.replace("'", "''")
    LoggedServer.rows(
      connection,
      s"SELECT relkind FROM pg_class WHERE oid = '$quoted'::regclass"
    ) == Vector("S")

  private val own =
    "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'"

  private val definitions = Vector(
    "column" -> s"""SELECT nspname, relname, relpersistence, relkind, attname,
      format_type(atttypid, atttypmod), attnotnull,
                           pg_get_expr(adbin, adrelid)
                    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                    JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
                    LEFT JOIN pg_attrdef d ON adrelid = c.oid AND adnum = attnum
                    WHERE $own ORDER BY 1, 2, attnum""",
    "constraint" -> s"""SELECT nspname, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
                        JOIN pg_namespace n ON n.oid = connamespace WHERE $own ORDER BY 1, 2, 3""",
    "index" -> s"""SELECT indexdef FROM pg_indexes JOIN pg_namespace n ON n.nspname = schemaname
      WHERE $own ORDER BY 1""",
    "rule" -> s"""SELECT definition FROM pg_rules JOIN pg_namespace n ON n.nspname = schemaname
      WHERE $own ORDER BY 1""",
    "view" -> s"""SELECT viewname, definition FROM pg_views
      JOIN pg_namespace n ON n.nspname = schemaname
                  WHERE $own ORDER BY 1""",
    "function" -> s"""SELECT pg_get_functiondef(p.oid) FROM pg_proc p
      JOIN pg_namespace n ON n.oid = pronamespace
                      WHERE $own ORDER BY 1""",
    "label" -> "SELECT enumlabel FROM pg_enum ORDER BY 1",
    "comment" -> """SELECT c.relname, d.objsubid, d.description FROM pg_description d
      JOIN pg_class c ON c.oid = d.objoid
                    WHERE d.classoid = 'pg_class'::regclass AND c.oid >= 16384 ORDER BY 1, 2""",
    "large object" -> "SELECT loid, pageno, encode(data, 'hex') FROM pg_largeobject ORDER BY 1, 2"
  )

  private val clearing = """DO $$
    DECLARE name text;
    BEGIN
      SET LOCAL client_min_messages = warning;
      FOR name IN SELECT nspname FROM pg_namespace
        WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'
      LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
      PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
      CREATE SCHEMA public;
    END $$"""
