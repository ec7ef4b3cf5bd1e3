package weir.postgres.apply

import java.util.ArrayDeque
import scala.collection.mutable.ArrayBuffer
import weir.Task
import weir.postgres.{Done, Extended, Piece, ScriptException, Session}
import weir.postgres.protocol.{Exchange, ExtendedCall, ExtendedMessages, ExtendedQuery, RowSink}

/** The statements of psql's pipeline: they are sent together, and their results are kept until the
  * script fetches them.
  *
  * The server runs what stands between two syncs in one transaction, and nothing after an error up
  * to the next sync. A run that ends at its first error sends nothing after a sync before which a
  * statement has failed.
  *
  * Rows that nothing prints are dropped as they arrive.
  *
  *   - **Owner only**: the fiber that applies the scripts, or the thread on which it calls the
  *     server.
  *
  * @param mostKeptBytes
  *   **Fails** if the results that are kept take more memory
  */
private[apply] final class Pipeline(
    session: Session,
    run: Pipeline.Run,
    mostKeptBytes: Long = Runtime.getRuntime.maxMemory / 4
):
  import Pipeline.*

  private val waiting = ArrayDeque[Item]()
  private val answered = ArrayDeque[Item]()
  private var waitingBytes = 0L
  private var keptBytes = 0L // of the rows of all results

  /** True if the server skips all up to the next sync. */
  private var isAborted = false

  /** True if the server has something that no sync has ended. */
  private var isUnsynced = false

  /** True if a result that was not fetched is an error. */
  private var hasFailed = false

  private var lastAdded: Item | Null = null

  /** Returns true if there is something that was not sent, not ended or not fetched. */
  def isInUse: Boolean = isUnsynced || !waiting.isEmpty || !answered.isEmpty

  /** Adds a statement of the file `script`.
    *
    * @param refused
    *   why it is not sent; null if it is. The server fails in its place, so that the rest up to the
    *   next sync does not run without it.
    */
  def add(statement: Piece.Statement, script: String, refused: ScriptException | Null)(using
      Task.Direct
  ): Unit =
    val item = Item(statement, script, isSync = false, refused)
    lastAdded = item
    waiting.add(item): Unit
    waitingBytes += sizeOf(item)
    if waitingBytes > MostBytes then flush()

  /** Ends a transaction of the pipeline. An error of that is one of the statement before. */
  def sync(): Unit =
    val last = lastAdded
    val item =
      if last eq null then Item(null, "", isSync = true)
      else Item(last.statement, last.script, isSync = true)
    waiting.add(item): Unit

  /** Sends what waits. */
  def flush()(using Task.Direct): Unit = sendUntil(Int.MaxValue)

  /** Fetches the next results. */
  def fetch(count: Int)(using Task.Direct): Unit =
    sendUntil(count)
    var left = count
    var isSkipping = false // after an error, up to a sync
    while left > 0 && !answered.isEmpty do
      val item = answered.poll()
      left -= 1
      keptBytes -= item.keptBytes
      val error = item.error
      try
        if error ne null then
          hasFailed = false
          isSkipping = !item.isSync
          if item.refused eq null then run.failed(item.statement.nn, item.script, error)
          else run.refused(item.statement.nn, item.script, item.refused.nn)
        else if item.isSync then
          isSkipping = false
          run.synced()
        else if !item.isAborted then run.done(item)
        else if !isSkipping then
          isSkipping = true
          run.aborted(item.statement.nn, item.script)
      finally item.discard()

  private def sendUntil(count: Int)(using Task.Direct): Unit =
    while !waiting.isEmpty && answered.size < count && !(hasFailed && run.stopsOnError) do
      val chunk = nextChunk()
      val messages = ExtendedMessages()
      if !isAborted then
        for item <- chunk if !item.isSync do
          val statement = item.statement.nn
          if item.refused ne null then messages.fail()
          else messages.add(statement.extended.nn, ExtendedQuery.textOf(statement))
      val endsWithSync = chunk.last.isSync
      if endsWithSync then messages.sync() else messages.flush()
      val left = ArrayDeque[Item]()
      chunk.foreach: item =>
        item.isAborted = isAborted && !item.isSync
        if !item.isAborted then left.add(item): Unit
      if !left.isEmpty then
        isUnsynced = true
        val call = Call(left, endsWithSync)
        session.converse(messages.take(), call).await
        chunk.find(_.copies).foreach(item => throw copying(item.statement.nn, item.script))
        chunk.find(_.isTooLarge).foreach(item => throw tooLarge(item, mostKeptBytes))
      chunk.foreach: item =>
        hasFailed ||= item.error ne null
        answered.add(item): Unit

  /** Returns the next statements up to a sync, or up to a size with which no write waits for a
    * server that itself waits for its results to be read.
    */
  private def nextChunk(): Vector[Item] =
    val chunk = Vector.newBuilder[Item]
    var bytes = 0L
    var goesOn = true
    while goesOn do
      val item = waiting.poll()
      chunk += item
      if item.isSync then goesOn = false
      else
        bytes += sizeOf(item)
        waitingBytes -= sizeOf(item)
        val next = waiting.peek
        goesOn = (next ne null) && (next.isSync || bytes + sizeOf(next) <= MostBytes)
    chunk.result()

  private def sizeOf(item: Item): Long =
    val statement = item.statement.nn
    statement.sizeBytes + Extended.sizeBytes(statement.extended) + MessageBytes

  /** Ends what the server has of the pipeline, after an error of the run: all that no sync has
    * ended is rolled back.
    */
  def abandon: Task[Unit] = Task.defer {
    waiting.forEach(_.discard())
    answered.forEach(_.discard())
    waiting.clear()
    answered.clear()
    keptBytes = 0
    if !isUnsynced || session.connectionLost then Task.unit
    else
      val messages = ExtendedMessages()
      if !isAborted then messages.fail() // a sync alone would commit
      messages.sync()
      session.converse(messages.take(), Call(ArrayDeque(), endsWithSync = true))
  }

  /** The answers to a chunk, of which `left` have none yet. */
  private final class Call(left: ArrayDeque[Item], endsWithSync: Boolean) extends ExtendedCall:
    private var reply: Array[Byte] | Null = null
    private var begunNanos = System.nanoTime()
    private val isPrinting = run.isPrinting
    begin()

    private def begin(): Unit =
      val item = left.peek
      if (item ne null) && (item.statement ne null) then run.begins(item.statement.nn, item.script)

    def takeReply(): Array[Byte] | Null =
      val messages = reply
      reply = null
      messages

    def take(kind: Byte, body: Array[Byte]): Boolean =
      val item = left.peek
      kind match
        case 'Z' =>
          isAborted = false
          isUnsynced = false
        case 'E' if item ne null => fail(item, body)
        case _ if (item eq null) || item.isSync => ()
        case 'T' | 'D' => keep(item, kind, body)
        case 'H' => item.copies = true
        case 'G' => refuse(item)
        case 'C' =>
          item.done = Exchange.doneOf(body)
          end(item)
        case 'I' | 's' => end(item)
        case '1' if item.form.isInstanceOf[Extended.Prepared] => end(item)
        case '3' => end(item)
        case _ => ()
      kind == 'Z' || !endsWithSync && left.isEmpty

    private def keep(item: Item, kind: Byte, body: Array[Byte]): Unit =
      if !isPrinting then item.isDropped = true
      else if !item.isTooLarge then
        val bytes = body.length + RowBytes
        item.rows += ((kind, body))
        item.keptBytes += bytes
        keptBytes += bytes
        if keptBytes > mostKeptBytes then
          item.isTooLarge = true
          item.rows.clear()
          keptBytes -= item.keptBytes
          item.keptBytes = 0

    private def end(item: Item): Unit =
      val now = System.nanoTime()
      item.nanos = now - begunNanos
      begunNanos = now
      left.poll(): Unit
      begin()

    /** The server skips all up to the next sync. */
    private def fail(item: Item, body: Array[Byte]): Unit =
      item.error = body
      if !item.isSync then
        isAborted = true
        left.poll(): Unit
        while !left.isEmpty && !left.peek.isSync do left.poll().isAborted = true

    /** The server has left out the sync, which it got during the COPY. */
    private def refuse(item: Item): Unit =
      item.copies = true
      val messages = ExtendedMessages()
      messages.failCopy("it is in a pipeline")
      if endsWithSync then messages.sync() else messages.flush()
      reply = messages.take()

private[apply] object Pipeline:
  /** Takes the results, in the order of their statements. */
  trait Run:
    def stopsOnError: Boolean

    /** The rows of statements are printed, and not dropped. */
    def isPrinting: Boolean

    /** The server works at this statement. */
    def begins(statement: Piece.Statement, script: String): Unit

    def done(item: Item)(using Task.Direct): Unit

    /** The statement has failed with an error of this body. **Fails** if the run ends. */
    def failed(statement: Piece.Statement, script: String, body: Array[Byte]): Unit

    /** The statement was not sent. **Fails** if the run ends. */
    def refused(statement: Piece.Statement, script: String, why: ScriptException): Unit

    /** The server has skipped the statement, and perhaps others after it. */
    def aborted(statement: Piece.Statement, script: String): Unit

    def synced(): Unit

  /** A statement or a sync, and its result.
    *
    * @param statement
    *   of a sync the statement before it; null if there is none
    * @param refused
    *   why it is not sent; null if it is
    */
  final class Item(
      val statement: Piece.Statement | Null,
      val script: String,
      val isSync: Boolean,
      val refused: ScriptException | Null = null
  ):
    val rows: ArrayBuffer[(Byte, Array[Byte])] = ArrayBuffer.empty
    var done: Done = Done(0, "")
    var nanos = 0L
    var error: Array[Byte] | Null = null
    var isAborted = false
    var copies = false
    var keptBytes = 0L // of its rows
    var isTooLarge = false // it has more rows than are kept
    var isDropped = false // it has rows that were not kept, since nothing printed them

    def form: Extended | Null = Extended.single(statement.nn.extended)

    def discard(): Unit = if !isSync then statement.nn.discard()

    /** Passes the result to `sink`, as if it came from the server now. */
    def show(sink: RowSink): Unit =
      for (kind, body) <- rows do RowSink.feed(sink, kind, body)
      val isEmpty = done.tag.isEmpty && rows.isEmpty && Extended.runsText(statement.nn.extended)
      if !isEmpty then sink.completed(done.tag)

  def skipped(statement: Piece.Statement, script: String): ScriptException =
    ScriptException(script, Some(statement.start), "Pipeline aborted, command did not run")

  def copying(statement: Piece.Statement, script: String): ScriptException = ScriptException(
    script,
    Some(statement.start),
    "COPY in a pipeline is not supported",
    hint = Some("psql aborts the connection. Write the COPY behind \\endpipeline.")
  )

  private def tooLarge(item: Item, most: Long): ScriptException = ScriptException(
    item.script,
    Some(item.statement.nn.start),
    s"the results of the pipeline take more than ${(most >> 20).max(1)} MB of memory",
    hint = Some(
      "They are kept until \\getresults or \\endpipeline prints them. Fetch fewer at a " +
        "time, or give the JVM four times as much memory."
    )
  )

  def dropped(item: Item): ScriptException = ScriptException(
    item.script,
    Some(item.statement.nn.start),
    "the rows of this statement came while nothing printed them, and were dropped",
    hint = Some("Write \\o before the \\flush or \\getresults that has them sent.")
  )

  def unended(script: String): ScriptException = ScriptException(
    script,
    None,
    "the script has ended in the middle of a pipeline, the rest of which is rolled back",
    hint = Some("Is \\endpipeline missing?")
  )

  /** As much as `SendAhead` has under way. */
  private val MostBytes = SendAhead.MostBytes

  /** About the bytes that a row takes beside its values. */
  private val RowBytes = 64

  /** About the bytes of the messages of a statement beside its text. */
  private val MessageBytes = 100
