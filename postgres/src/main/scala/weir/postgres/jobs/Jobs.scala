package weir.postgres.jobs

import scala.collection.mutable
import weir.{Fiber, Resource, Task}
import weir.postgres.Piece
import weir.postgres.protocol.{Lane, SessionState, SessionWatch}
import weir.postgres.split.Characters

/** The additional connections of `--jobs`: opened at the first COPY that is long enough to be cut,
  * and given the settings of the script's session.
  *
  * @param count
  *   the most connections, including the script's own
  */
private[postgres] final class Jobs private (
    val count: Int,
    open: Resource[Lane]
):
  private val others = mutable.ArrayBuffer[Jobs.Other]()
  private val one = mutable.LinkedHashMap[String, Long]()
  private var cut = 0L
  private var running: Fiber[Any] | Null = null

  /** Returns the number of COPYs that went over several connections. */
  def parallel: Long = cut

  /** Returns the number of COPYs that had enough data for several connections but went over one, by
    * the reason.
    */
  def single: Map[String, Long] = one.toMap

  /** Returns true if the statement allows its data to be cut. */
  def mayCut(statement: Piece.Statement, own: Boolean): Boolean =
    if count == 1 then false
    else if !own then because("it is in a transaction of the script")
    else if statement.reading.characters != Characters.Utf8 then
      because("a byte of a character may be a backslash in this client_encoding")
    else CopyHead.of(statement).whole.forall(option => because(s"of the option $option"))

  private def because(reason: String): Boolean =
    one(reason) = one.getOrElse(reason, 0L) + 1
    false

  def copied(parts: Int): Unit = if parts > 1 then cut += 1

  /** Returns the additional connections, ready for this COPY; empty if they cannot be used for it.
    */
  def lanes(main: Lane, session: SessionWatch, statement: Piece.Statement)(using
      Task.Direct
  ): Vector[Lane] =
    // Opening them takes longer than the queries that run meanwhile.
    openMissing.background
      .use(opening => Task.direct(ready(main, session, statement, opening)))
      .await

  private def ready(
      main: Lane,
      session: SessionWatch,
      statement: Piece.Statement,
      opening: Fiber[Unit]
  )(using Task.Direct): Vector[Lane] =
    val table = CopyHead.of(statement).table
    val found = main.rows(Jobs.look(table)).await
    val reason = found match
      case Vector(Vector(_, "t", _)) => Some("the table is temporary")
      case Vector(Vector(_, _, "t")) => Some("rows of the table refer to others of it")
      case Vector(_) => None
      case _ => Some("the table was not found")
    val oid = found.headOption.map(_.head)
    val lanes =
      if reason.nonEmpty then Vector.empty
      else
        session.look()
        opening.joinOrFail.await
        prepare(session.state)
        others.iterator.map(_.lane).toVector
    if reason.isEmpty && lanes.forall(seen(_, table) == oid) then lanes
    else
      because(reason.getOrElse("other connections do not see the table")): Unit
      Vector.empty

  private def seen(lane: Lane, table: String)(using Task.Direct): Option[String] =
    lane.rows(Jobs.look(table)).await.headOption.map(_.head)

  /** Gives each connection the settings of the script's session. */
  private def prepare(state: SessionState)(using Task.Direct): Unit =
    others.foreach { other =>
      val change = state.change(other.state)
      if change.nonEmpty then other.lane.run(change).await
      other.state = state
    }

  /** Opens the missing connections, all at the same time. */
  private def openMissing: Task[Unit] =
    Task.defer(Task.parTraverse(others.size until count - 1)(_ => add).void)

  private def add: Task[Unit] = Task.uncancelable(poll =>
    poll(open.allocated).map((lane, close) =>
      // Several are opened at the same time.
      others.synchronized(others += Jobs.Other(lane, close)): Unit
    )
  )

  /** Runs `use` with a further connection, which is closed afterwards. */
  def beside[A](use: Lane => Task[A]): Task[A] = open.use(use)

  /** Sets the fiber that is cancelled together with the script. */
  def runs(fiber: Fiber[Any]): Unit = running = fiber

  /** Closes the additional connections, which rolls back their uncommitted work. New ones are
    * opened for the next COPY.
    */
  def drop: Task[Unit] = Task.defer {
    val fiber = running
    running = null
    val closing = others.toList
    others.clear()
    val stop = if fiber ne null then fiber.cancel else Task.unit
    stop.andThen(Task.foreach(closing)(_.close.attempt))
  }

private[postgres] object Jobs:
  private final class Other(val lane: Lane, val close: Task[Unit]):
    var state: SessionState = SessionState.empty

  /** At most `count` connections, the script's own among them; the others are closed at the end. */
  def resource(count: Int, open: Resource[Lane]): Resource[Jobs] =
    require(count >= 1, s"Jobs: the number was $count. It must be at least 1.")
    Resource.make(Task(new Jobs(count, open)))(_.drop)

  /** Returns the query for the table that the name means in a session, whether it is temporary, and
    * whether it has foreign keys to itself.
    */
  private def look(table: String): String =
    s"""SELECT c.oid, c.relpersistence = 't', EXISTS (SELECT 1 FROM pg_catalog.pg_constraint
       |WHERE conrelid = c.oid AND confrelid = c.oid AND contype = 'f') FROM pg_catalog.pg_class c
       |WHERE c.oid = pg_catalog.to_regclass(${Lane.literal(table)})""".stripMargin
