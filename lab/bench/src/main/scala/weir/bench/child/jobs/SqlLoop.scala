package weir.bench.child.jobs

import java.util.concurrent.atomic.AtomicBoolean

/** The base line: the statements of `PgQueue` in a loop on one connection and one thread, as many
  * jobs at a time as others run at once. Nothing is renewed, tried again or given back.
  */
object SqlLoop extends JobSystem:
  import OnWeir.table

  private val take =
    s"""UPDATE $table SET leased_until = now() + ?::bigint * interval '1 millisecond',
       |  attempts = attempts + 1, token = token + 1, worker = ?
       |WHERE ctid = ANY (ARRAY(
       |  SELECT ctid FROM $table
       |  WHERE is_due AND (leased_until IS NULL OR leased_until < now())
       |  ORDER BY priority DESC, run_at, id LIMIT ? FOR UPDATE SKIP LOCKED
       |))
       |RETURNING id, attempts, max_attempts, priority, run_at, key, error, token,
       |  payload""".stripMargin

  private val ack =
    s"""DELETE FROM $table j USING unnest(?::bigint[], ?::int[]) AS a(id, token)
       |WHERE j.id = a.id AND j.token = a.token RETURNING j.id""".stripMargin

  def create(url: String): Unit = OnWeir.create(url)
  def fill(url: String, count: Int): Unit = OnWeir.fill(url, count)
  def left: String = OnWeir.left

  def work(url: String, parallelism: Int, done: () => Unit): AutoCloseable =
    val isOver = AtomicBoolean()
    val thread = Thread.ofPlatform().start(() => loop(url, parallelism, done, isOver))
    () => {
      isOver.set(true)
      thread.join()
    }

  private def loop(url: String, count: Int, done: () => Unit, isOver: AtomicBoolean): Unit =
    JobSystem.withConnection(url): connection =>
      val taking = connection.prepareStatement(take)
      val acknowledging = connection.prepareStatement(ack)
      taking.setLong(1, 30_000)
      taking.setString(2, "loop")
      taking.setInt(3, count)
      while !isOver.get do
        val ids = Vector.newBuilder[java.lang.Long]
        val tokens = Vector.newBuilder[Integer]
        val rows = taking.executeQuery()
        while rows.next() do
          ids += rows.getLong(1)
          tokens += rows.getInt(8)
          rows.getString(9): Unit
          done()
        val all = ids.result()
        if all.isEmpty then Thread.sleep(1)
        else
          acknowledging.setArray(1, connection.createArrayOf("int8", all.toArray[AnyRef]))
          val held = tokens.result().toArray[AnyRef]
          acknowledging.setArray(2, connection.createArrayOf("int4", held))
          acknowledging.executeQuery().close()
