package weir.postgres.apply

import java.io.IOException
import scala.collection.mutable.ListBuffer
import weir.Task
import weir.postgres.*
import weir.postgres.protocol.ExtendedCall

/** Pipelines keep no more in memory than they print. */
class PipelineSuite extends ServerSuite:
  private final class Items(val isPrinting: Boolean) extends Pipeline.Run:
    val done = ListBuffer.empty[Pipeline.Item]
    def stopsOnError: Boolean = true
    def begins(statement: Piece.Statement, script: String): Unit = ()
    def done(item: Pipeline.Item)(using Task.Direct): Unit = done += item
    def failed(statement: Piece.Statement, script: String, body: Array[Byte]): Unit =
      throw AssertionError(String(body))
    def refused(statement: Piece.Statement, script: String, why: ScriptException): Unit = throw why
    def aborted(statement: Piece.Statement, script: String): Unit = throw AssertionError("aborted")
    def synced(): Unit = ()

  private def piped(text: String, long: LongText | Null = null) = Piece.Statement(
    sql(text),
    false,
    Position.start,
    0,
    Nil,
    long = long,
    extended = Extended.Piped(Extended.Bound(Nil))
  )

  /** Fetches the result of the statement, and returns whether the connection can still be used. */
  private def fetch(run: Items, most: Long, statement: Piece.Statement): (Option[String], Boolean) =
    val url = server.unix("postgres")
    withSession(url): (_, session) =>
      Task.direct:
        val pipeline = Pipeline(session, run, most)
        val fetched = Task.direct:
          pipeline.add(statement, "s.sql", null)
          pipeline.sync()
          pipeline.fetch(2)
        val end = fetched.attempt.await.left.toOption.map(_.getMessage)
        pipeline.abandon.await
        (end, session.run("SELECT 1").attempt.await.isRight)

  private val tenRows = "SELECT repeat('x', 1000) FROM generate_series(1, 10)"

  for isPrinting <- List(false, true) do
    test(s"rows are kept only if they are printed: $isPrinting"):
      val run = Items(isPrinting)
      assertEquals(fetch(run, 100_000, piped(tenRows)), (None, true))
      val kept = run.done.map(item => (item.rows.size, item.isDropped, item.done.rows)).toList
      assertEquals(kept, List(if isPrinting then (11, false, 10L) else (0, true, 10L)))

  test("more rows than may be kept end the run"):
    val (end, isUsable) = fetch(Items(true), 5000, piped(tenRows))
    assert(end.exists(_.contains("the results of the pipeline take more than")), end)
    assert(isUsable)

  test("the file of a long statement is closed when its result has been fetched"):
    val long = LongText.create()
    long.append(sql("SELECT 1"), 0, 8)
    assertEquals(fetch(Items(true), 5000, piped("SELECT", long)), (None, true))
    intercept[IOException](long.read(0, 1)): Unit

  test("an answer for which the memory is too small ends the connection"):
    withSession(server.unix("postgres")): (_, session) =>
      Task.direct:
        object Full extends ExtendedCall:
          def take(kind: Byte, body: Array[Byte]) = throw OutOfMemoryError("a test's own")
          def takeReply() = null
        val messages = weir.postgres.protocol.ExtendedMessages()
        messages.add(Extended.Bound(Nil), sql("SELECT 1"))
        messages.sync()
        val end = session.converse(messages.take(), Full).attempt.await
        assert(end.left.exists(_.isInstanceOf[OutOfMemoryError]), end)
        assert(session.connectionLost)
