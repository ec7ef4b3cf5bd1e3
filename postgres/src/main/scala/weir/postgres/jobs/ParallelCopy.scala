package weir.postgres.jobs

import java.util.concurrent.atomic.AtomicLong
import scala.collection.mutable.ArrayBuffer
import scala.concurrent.duration.*
import weir.{Channel, Fiber, Task}
import weir.postgres.{Piece, ServerError, Session}
import weir.postgres.protocol.{Lane, SessionWatch}

/** Cuts the data of a COPY at row ends and sends it over several connections, each in a transaction
  * of its own.
  *
  * The beginning of the data is held back: if it ends within two chunks, or cannot be cut, it goes
  * over one connection. Else chunk i goes to connection i modulo their number, by way of a channel
  * that holds a few blocks. Nobody commits before all have ended their COPY. README.md in this
  * folder has the protocol.
  *
  * @param chunkBytes
  *   the minimum length of a chunk, by the number of connections
  */
private[postgres] final class ParallelCopy(
    main: Lane,
    session: SessionWatch,
    jobs: Jobs,
    chunkBytes: Int => Long,
    patience: FiniteDuration = 1.second
) extends CopyTarget:
  private val mostHeldBytes = 2 * chunkBytes(jobs.count)
  private var statement: Piece.Statement | Null = null
  private val held = ArrayBuffer[Piece.CopyData]()
  private var heldBytes = 0L
  private var mode = ParallelCopy.Mode.Holding
  private var run: ParallelCopy.Run | Null = null

  def parts: Int =
    val now = run
    if now eq null then 1 else now.lanes.size

  /** Closes the additional connections. */
  def leave: Task[Unit] = jobs.drop

  def begin(statement: Piece.Statement, own: Boolean)(using Task.Direct): Unit =
    this.statement = statement
    held.clear()
    heldBytes = 0
    run = null
    mode = ParallelCopy.Mode.Holding
    if !jobs.mayCut(statement, own) then one()

  /** Asks the server if it takes the COPY, which is sent once there is enough data: begins it, and
    * gives it up.
    */
  def ask()(using Task.Direct): Unit = if mode == ParallelCopy.Mode.Holding then
    main.session.beginCopy(statement.nn.text).await
    main.session.abortCopy.await

  def data(piece: Piece.CopyData)(using Task.Direct): Unit = mode match
    case ParallelCopy.Mode.Holding =>
      held += piece
      heldBytes += piece.length
      if heldBytes >= mostHeldBytes || held.size >= ParallelCopy.mostHeld then release()
    case ParallelCopy.Mode.One => write(piece)
    case ParallelCopy.Mode.Several => run.nn.feed(piece)

  /** There is enough data for several connections, if they see the table. */
  private def release()(using Task.Direct): Unit =
    val lanes = jobs.lanes(main, session, statement.nn)
    if lanes.isEmpty then one()
    else
      mode = ParallelCopy.Mode.Several
      val now = ParallelCopy.Run(statement.nn, main +: lanes, jobs, chunkBytes, patience)
      run = now
      now.start()
      held.foreach(now.feed)
      held.clear()

  private def one()(using Task.Direct): Unit =
    mode = ParallelCopy.Mode.One
    main.session.beginCopy(statement.nn.text).await
    held.foreach(write)
    held.clear()

  private def write(piece: Piece.CopyData)(using Task.Direct): Unit =
    main.session.write(piece.bytes, piece.from, piece.length).await

  def end()(using Task.Direct): Long =
    if mode == ParallelCopy.Mode.Holding then one()
    val now = run
    val rows =
      if now eq null then main.session.endCopy.await
      else now.end()
    jobs.copied(parts)
    rows

  def commitOthers(record: Int => String)(using Task.Direct): Unit =
    val now = run
    if now ne null then
      for (lane, i) <- now.lanes.zipWithIndex.drop(1) do
        val sql = record(i)
        lane.run(if sql.isEmpty then "COMMIT" else s"$sql; COMMIT").await

  def abort()(using Task.Direct): Unit =
    val now = run
    run = null
    held.clear()
    if now ne null then jobs.drop.await
    main.session.abortCopy.await

private[postgres] object ParallelCopy:
  private enum Mode:
    case Holding, One, Several

  /** Returns the minimum length of a chunk of data for this number of connections. A journal with
    * parts of a COPY relies on it: another length is another version of the journal.
    *
    * Longer than a block for few connections, so that most blocks go to one of them whole; shorter
    * for many, since some data waits for each.
    */
  def chunkBytes(connections: Int): Long =
    math.max(256 << 10, math.min(1 << 20, (2 << 20) / connections)).toLong

  /** Returns the number of slices of blocks that wait for each connection: about a chunk from a
    * pipe, whose blocks have 64 KB.
    */
  private def waiting(connections: Int): Int = math.max(8, 32 / connections)

  /** About how many bytes are held back and wait for few connections. */
  val aheadBytes: Long = 8L << 20

  /** A pipe that gives a few bytes at a time makes pieces whose objects are larger than their
    * bytes.
    */
  private val mostHeld = 1000

  private val deadlock = "40P01"
  private val oneJob =
    "Rows of this COPY over different connections need the same locks. Nothing of it has been " +
      "applied. " +
      "Apply the script with --jobs 1."

  private final class Slice(val bytes: Array[Byte], val from: Int, val length: Int)

  /** One COPY over several connections. `feed` and `end` are called by one fiber, and each lane is
    * used by one other fiber.
    */
  private final class Run(
      statement: Piece.Statement,
      val lanes: Vector[Lane],
      jobs: Jobs,
      chunkBytes: Int => Long,
      patience: FiniteDuration
  ):
    private val channels = lanes.map(_ => Channel.unsafe[Slice](waiting(lanes.size)))
    private val cutter = RowCutter(chunkBytes(lanes.size))
    private val numbers = PartRows(lanes.size)
    private val written = AtomicLong()
    private var part = 0
    private var carrying: Fiber[Seq[Long]] | Null = null

    def start()(using Task.Direct): Unit =
      val all = Task.parTraverse(lanes.indices)(carry)
      val watch = Conflicts(lanes.map(_.pid), written, jobs, patience).watch
      // The watch ends only with a conflict.
      val work = Task.race(all, watch).map {
        case Left(rows) => rows
        case Right(nothing) => nothing
      }
      Task
        .uncancelable(_ =>
          // The feeding fiber must not wait for a lane that has ended.
          work.guarantee(Task.foreach(channels)(_.close)).start.map { fiber =>
            carrying = fiber
            jobs.runs(fiber)
          }
        )
        .await

    private def carry(i: Int): Task[Long] = Task
      .direct {
        val lane = lanes(i)
        if lane.transaction == Session.Transaction.Idle then lane.run("BEGIN").await
        lane.session.beginCopy(statement.text).await
        var open = true
        while open do
          channels(i).receiveOrClosed.await match
            case slice: Slice =>
              lane.session.write(slice.bytes, slice.from, slice.length).await
              written.addAndGet(slice.length): Unit
              // The end of the COPY then fails with the error.
              open = !lane.session.copyHasFailed
            case _: Channel.Closed => open = false
        val rows = lane.session.endCopy.await
        // Deferred constraints are checked before any connection commits.
        lane.run("SET CONSTRAINTS ALL IMMEDIATE").await
        rows
      }
      .handleErrorWith(error =>
        Task.fail(advised(lanes(i).withRow(error, row => numbers.inBody(i, row))))
      )

    private def advised(error: Throwable): Throwable = error match
      case error: ServerError if error.sqlState == deadlock => Lane.withHint(error, oneJob)
      case error => error

    def feed(piece: Piece.CopyData)(using Task.Direct): Unit =
      var at = piece.from
      val until = piece.from + piece.length
      cutter.expect(piece.plainNewlines)
      while at < until do
        if cutter.chunkEnded then numbers.begins(part)
        val end = cutter.next(piece.bytes, at, until)
        channels(part).sendOrClosed(Slice(piece.bytes, at, end - at)).await match
          case _: Channel.Closed => joined(): Unit
          case _ => ()
        if cutter.chunkEnded then
          numbers.ends(part, cutter.rows)
          part = (part + 1) % lanes.size
        at = end

    /** Returns the number of rows, once every lane has ended its COPY. */
    def end()(using Task.Direct): Long =
      channels.foreach(_.close.await)
      joined()

    /** Joins the lanes; throws the error that has ended them early. */
    private def joined()(using Task.Direct): Long = carrying.nn.joinOrFail.await.sum
