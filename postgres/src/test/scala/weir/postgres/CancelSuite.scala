package weir.postgres

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.{Outcome, Stream, Task, Tier}
import weir.postgres.apply.{Deliveries, PlainDelivery}

class CancelSuite extends ServerSuite:
  private val data = manyRows("1234567\n")

  /** Starts `task`, cancels it once the server process is in the state `is`, and waits for the end.
    * Returns how long the cancel took.
    */
  private def canceledAt(connection: ScriptConnection, is: String)(task: Task[Any])(using
      Task.Direct
  ): FiniteDuration =
    val fiber = task.start.await
    backend(server, connection, is)
    val begun = System.nanoTime()
    fiber.cancel.timeout(20.seconds).await
    assertEquals(fiber.join.await, Outcome.Canceled)
    (System.nanoTime() - begun).nanos

  /** The connection can be used. */
  private def works(session: Session)(using Task.Direct): Unit =
    assert(!session.connectionLost)
    assertEquals(session.run("SELECT 1").await, Done(1, "SELECT 1"))

  over("a statement is cancelled on the server, and the connection goes on"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        for _ <- 1 to 3 do
          val took =
            canceledAt(connection, "wait_event = 'PgSleep'")(session.run("SELECT pg_sleep(1000)"))
          assert(took < Tier(20.seconds, 5.seconds), took)
          works(session)
      }
    }

  over("a timeout is a cancel"): (_, url) =>
    withSession(url) { (_, session) =>
      Task.direct {
        val late = session.run("SELECT pg_sleep(1000)").timeout(200.millis).attempt.await
        assert(late.left.exists(_.isInstanceOf[java.util.concurrent.TimeoutException]), late)
        works(session)
      }
    }

  over("the beginning of a COPY that waits for a lock is cancelled"): (database, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        session.run("CREATE TABLE t (i int)").await: Unit
        server.admin(database) { admin =>
          admin.setAutoCommit(false)
          server.execute(admin, "LOCK TABLE t")
          canceledAt(connection, "wait_event_type = 'Lock'")(
            session.beginCopy(sql("COPY t FROM STDIN"))
          ): Unit
        }
        assert(!session.isCopying)
        works(session)
      }
    }

  /** A table whose trigger blocks at the first row, so that the server reads no more. */
  private def slowTable(session: Session)(using Task.Direct): Unit =
    session.run("CREATE TABLE t (i int)").await: Unit
    session
      .run(
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(1000); " +
          "RETURN NEW; END$$"
      )
      .await: Unit
    session.run("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()").await: Unit

  over("a write that the server does not take is cancelled, and the COPY ends"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        slowTable(session)
        session.beginCopy(sql("COPY t FROM STDIN")).await
        // One call, for which no system has buffers: it has begun when the first row is there, and
        // cannot end.
        val much = Array.fill(512)(data).flatten
        val writing = session.write(much, 0, much.length).forever
        val took = canceledAt(connection, "wait_event = 'PgSleep'")(writing)
        assert(took < Tier(20.seconds, 5.seconds), took)
        assert(session.isCopying)
        session.abortCopy.await
        works(session)
      }
    }

  over("the end of a COPY is cancelled"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        slowTable(session)
        session.beginCopy(sql("COPY t FROM STDIN")).await
        session.write(sql("1\n"), 0, 2).await
        canceledAt(connection, "wait_event = 'PgSleep'")(session.endCopy): Unit
        assert(!session.isCopying)
        works(session)
      }
    }

  over("a cancel after the end, and one before the beginning, change nothing"): (_, url) =>
    withSession(url) { (_, session) =>
      Task.direct {
        val fiber = session.run("SELECT 1").start.await
        fiber.join.await: Unit
        fiber.cancel.await
        val early = Task.canceled.andThen(session.run("SELECT 1/0")).start.await
        assertEquals(early.join.await, Outcome.Canceled)
        works(session)
      }
    }

  over("a server that does not answer a cancel has its connection closed"): (_, url) =>
    val connected = CountDownLatch(1)
    ScriptConnection
      .open(url)
      .use { connection =>
        Task.direct {
          val session = Session.within(connection, _ => (), graceMillis = 300)
          val pid = connection.driver.getBackendPID
          val fiber = session.run("SELECT pg_sleep(1000)").start.await
          backend(server, connection, "wait_event = 'PgSleep'")
          signal(pid, "STOP")
          try fiber.cancel.timeout(20.seconds).await
          finally signal(pid, "CONT")
          assertEquals(fiber.join.await, Outcome.Canceled)
          assert(session.connectionLost)
          connected.countDown()
        }
      }
      .runSync()
    assertEquals(connected.getCount, 0L)

  private def signal(pid: Int, name: String): Unit =
    assertEquals(ProcessBuilder("kill", s"-$name", pid.toString).start().waitFor(), 0)

  over("a script that is cancelled rolls back what is open"): (database, url) =>
    def statement(text: String) =
      Piece.Statement(sql(text), text.startsWith("COPY"), Position(0, 1, 1), 1)
    val row = Piece.CopyData(data, 0, data.length, Position(0, 2, 1), 2)
    val head = List("BEGIN", "INSERT INTO t VALUES (1)").map(statement)
    val places = Map(
      "wait_event = 'PgSleep'" -> Stream.emits(head :+ statement("SELECT pg_sleep(1000)")),
      "state = 'idle in transaction'" -> (Stream.emits(head) ++ Stream.never),
      "query LIKE 'COPY%' AND wait_event = 'ClientRead'" ->
        (Stream.emits(head :+ statement("COPY t FROM STDIN") :+ row) ++ Stream.never),
      "query LIKE 'COPY%'" ->
        (Stream.emits(head :+ statement("COPY t FROM STDIN")) ++ Stream
          .emit(row)
          .flatMap(r => Stream.fromIterator(Iterator.continually(r))))
    )
    server.admin(database)(server.execute(_, "CREATE TABLE t (i int)"))
    ScriptConnection
      .open(url)
      .use { connection =>
        Task.direct {
          def applying(pieces: Stream[Piece]) = Deliveries
            .applying(
              connection,
              List("s.sql" -> pieces.map(Vector(_))),
              ApplyOptions(),
              ApplyListener.none,
              PlainDelivery(_)
            )
          for (is, pieces) <- places do
            canceledAt(connection, is)(applying(pieces)): Unit
            assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0", is)
            assertEquals(applying(Stream.emit(statement("SELECT 1"))).await.rows, 1L, is)
        }
      }
      .runSync()

  test("connecting is cancelled"):
    val silent = java.net.ServerSocket(0)
    try
      val url = s"postgresql://me@localhost:${silent.getLocalPort}/shop?sslmode=disable"
      val fiber = ScriptConnection.open(url).use(_ => Task.unit).start.runSync()
      silent.accept(): Unit // it is connected, and waits for an answer
      fiber.cancel.timeout(5.seconds).runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
    finally silent.close()

  test("connecting that is cancelled does not go on at the next address"):
    val silent = List.fill(2)(java.net.ServerSocket(0))
    try
      val hosts = silent.map(s => s"localhost:${s.getLocalPort}").mkString(",")
      val url = s"postgresql://me@$hosts/shop?sslmode=disable"
      val fiber = ScriptConnection.open(url).use(_ => Task.unit).start.runSync()
      silent.head.accept(): Unit
      fiber.cancel.timeout(5.seconds).runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
    finally silent.foreach(_.close())

  over("a connection that is there when connecting is cancelled is closed"): (database, url) =>
    val seed = Tier.seed("weir.sql.seed")
    val rounds = Tier.size("weir.sql.rounds", 25, 60)
    val random = scala.util.Random(seed)
    println(s"-Dweir.sql.seed=$seed")
    for _ <- 1 to rounds do
      val fiber = ScriptConnection.open(url).use(_ => Task.unit).start.runSync()
      val until = System.nanoTime() + random.nextInt(15_000_000)
      while System.nanoTime() < until do Thread.`yield`()
      fiber.cancel.runSync()
    eventually("all are closed") {
      val count = s"SELECT count(*) FROM pg_stat_activity WHERE datname = '$database'"
      server.ask("postgres")(count) == "0"
    }

  over("a cancel at any moment leaves the connection in step"): (_, url) =>
    val seed = Tier.seed("weir.sql.seed")
    val rounds = Tier.size("weir.sql.rounds", 60, 150)
    val random = scala.util.Random(seed)
    println(s"-Dweir.sql.seed=$seed")
    withSession(url) { (_, session) =>
      Task.direct {
        session.run("CREATE TABLE t (i int)").await: Unit
        val copy = session
          .beginCopy(sql("COPY t FROM STDIN"))
          .andThen(session.write(data, 0, data.length))
          .andThen(session.endCopy)
        val slow = session.run("SELECT pg_sleep(0.002)")
        for round <- 1 to rounds do
          val fiber = (if random.nextBoolean() then copy else slow).start.await
          val until = System.nanoTime() + random.nextInt(4_000_000)
          while System.nanoTime() < until do Thread.`yield`()
          fiber.cancel.await
          session.abortCopy.await
          assertEquals(session.run("SELECT 1").await, Done(1, "SELECT 1"), s"round $round")
          assertEquals(session.transaction, Session.Transaction.Idle, s"round $round")
      }
    }
