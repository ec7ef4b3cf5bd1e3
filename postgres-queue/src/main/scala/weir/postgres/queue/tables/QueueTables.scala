package weir.postgres.queue.tables

import weir.postgres.queue.PgCodec

/** The tables of a queue: their names, their definition and its earlier versions.
  *
  * A job is a row from its offer to its end. Taking it changes `leased_until`, `attempts`, `token`
  * and `worker`, none of which is in an index. Half of each page is free at first, so Postgres
  * writes the new version into the same page and touches no index (a HOT update). The next visitor
  * of the page removes the old version without a vacuum. Decision 0024 has the figures.
  */
private[queue] final class QueueTables(
    val schema: String,
    val queue: String,
    column: PgCodec.Column,
    notifies: Boolean = true
):
  import QueueTables.*

  checkName("schema", schema)
  checkName("queue", queue)
  checkLength(schema, queue)

  val jobs: String = s"$schema.$queue"
  val dead: String = s"$schema.${queue}_dead"

  /** The channel of the `NOTIFY` that is sent when jobs were added. */
  val channel: String = s"${schema}_$queue"

  /** A further column of a query, which notifies the channel; none if the queue does not notify. */
  val notification: String =
    if notifies then s", (SELECT pg_notify('$channel', '')::text)" else ""

  val payload: String = column.sql

  /** The table of the versions that the queues of the schema have had. No queue has its name. */
  val versions: String = s"$schema.queue$$versions"

  val createSchema: String = s"CREATE SCHEMA $schema"

  /** Returns the statements that bring tables of `version` to the newest one, in a schema that
    * exists. Version 0 is no table.
    */
  def since(version: Int): String =
    require(
      version >= 0 && version <= QueueTables.version,
      s"PgQueue.ddlSince: version was $version. It must be 0 to ${QueueTables.version}."
    )
    if version == QueueTables.version then ""
    else s"$createVersions${migrations.drop(version).mkString}$record"

  private def createVersions: String =
    s"""CREATE TABLE IF NOT EXISTS $versions (
       |  queue text NOT NULL,
       |  version integer NOT NULL,
       |  recorded_at timestamptz NOT NULL DEFAULT now(),
       |  PRIMARY KEY (queue, version)
       |);
       |""".stripMargin

  private def record: String =
    s"""INSERT INTO $versions (queue, version)
       |SELECT '$queue', version FROM generate_series(1, ${QueueTables.version}) AS version
       |ON CONFLICT DO NOTHING;
       |""".stripMargin

  /** The statements that make each version of the one before it, from version 1 on. The README has
    * the rules for a new one.
    */
  private def migrations: Vector[String] = Vector(firstTables, indexOfDead)

  private def firstTables: String =
    s"""CREATE TABLE $jobs (
       |  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       |  run_at timestamptz NOT NULL DEFAULT now(),
       |  leased_until timestamptz,
       |  priority integer NOT NULL DEFAULT 0,
       |  attempts integer NOT NULL DEFAULT 0,
       |  max_attempts integer NOT NULL DEFAULT 10,
       |  token integer NOT NULL DEFAULT 0,
       |  is_due boolean NOT NULL DEFAULT true,
       |  worker text,
       |  key text,
       |  error text,
       |  payload $payload NOT NULL
       |) WITH (
       |  fillfactor = 50,
       |  autovacuum_vacuum_scale_factor = 0.02,
       |  autovacuum_vacuum_threshold = 1000,
       |  autovacuum_vacuum_cost_delay = 0
       |);
       |CREATE INDEX ${queue}_ready ON $jobs (priority DESC, run_at, id) WHERE is_due;
       |CREATE INDEX ${queue}_delayed ON $jobs (run_at) WHERE NOT is_due;
       |CREATE UNIQUE INDEX ${queue}_key ON $jobs (key) WHERE key IS NOT NULL;
       |CREATE TABLE $dead (
       |  id bigint PRIMARY KEY,
       |  run_at timestamptz NOT NULL,
       |  died_at timestamptz NOT NULL DEFAULT now(),
       |  priority integer NOT NULL,
       |  attempts integer NOT NULL,
       |  max_attempts integer NOT NULL,
       |  worker text,
       |  key text,
       |  error text,
       |  payload $payload NOT NULL
       |);
       |COMMENT ON TABLE $jobs IS '$firstComment';
       |""".stripMargin

  // Code that knows version 1 alone compares the comment.
  private def indexOfDead: String =
    s"""CREATE INDEX ${queue}_dead_at ON $dead (died_at, id);
       |COMMENT ON TABLE $jobs IS '${mark}version 2 or later: see $versions';
       |""".stripMargin

private[queue] object QueueTables:
  /** The version of the tables that this code knows: the number of its migrations. */
  val version = 2

  /** The beginning of the comment of each table of jobs. */
  val mark = "weir queue, "

  /** The comment of tables of version 1, whose version is not in the table of versions. */
  val firstComment: String = s"${mark}version 1"

  private val name = "[a-z_][a-z0-9_]{0,39}".r

  private def checkName(what: String, text: String): Unit =
    if !name.matches(text) then
      throw IllegalArgumentException(
        s"PgQueue: the name of the $what was '$text'. It must have 1 to 40 characters, a small " +
          "letter or _ first, then small letters, digits and _."
      )

  /** The server refuses to notify a channel whose name has 64 bytes or more. */
  private val longestTogether = 62

  private def checkLength(schema: String, queue: String): Unit =
    val length = schema.length + queue.length
    if length > longestTogether then
      throw IllegalArgumentException(
        s"PgQueue: the names of the schema '$schema' and of the queue '$queue' together have " +
          s"$length characters. They may have at most $longestTogether: both are in the name " +
          "of a channel of Postgres."
      )
