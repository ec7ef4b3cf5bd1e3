package weir.postgres

import weir.{Stream, Task, Tier}
import weir.postgres.apply.{Deliveries, Delivery, PlainDelivery}
import weir.postgres.protocol.NoticeDispatcher

class CopyWatchSuite extends ServerSuite:
  private val MB = 1L << 20

  over("a COPY of 500 MB whose first row is bad stops within 16 MB"): (_, url) =>
    val data = manyRows("12345678\n".reverse + "1234567")
    var sentBytes = 0L
    def pieces: Stream[Piece] =
      val head = List(
        Piece.Statement(sql("CREATE TABLE t (i int)"), false, Position.start, 1),
        Piece.Statement(sql("COPY t FROM STDIN"), true, Position(0, 2, 1), 2),
        Piece.CopyData(sql("bad\n"), 0, 4, Position(0, 3, 1), 6)
      )
      Stream.fromIterable(head) ++ Stream.fromIterator(
        Iterator.tabulate(8000)(i =>
          Piece.CopyData(data, 0, data.length, Position(0, 4, 1), 7L + i)
        )
      )
    val counting = (session: Session) =>
      val plain = PlainDelivery(session)
      new Delivery:
        def begin(script: String) = plain.begin(script)
        def end = plain.end
        def begins(piece: Piece.Statement) = plain.begins(piece)
        def statement(piece: Piece.Statement) = plain.statement(piece)
        def beginCopy(piece: Piece.Statement) = plain.beginCopy(piece)
        def copyData(piece: Piece.CopyData) =
          sentBytes += piece.length
          plain.copyData(piece)
        def copyHasFailed = plain.copyHasFailed
        def endCopy(piece: Piece) = plain.endCopy(piece)
        def abortCopy = plain.abortCopy
    val failed = ScriptConnection
      .open(url)
      .use(c =>
        Deliveries
          .applying(
            c,
            List("s.sql" -> pieces.map(Vector(_))),
            ApplyOptions(),
            ApplyListener.none,
            counting
          )
          .attempt
      )
      .runSync()
    val error = failed.left.toOption.get.asInstanceOf[ScriptException]
    assertEquals(error.position.map(_.line), Some(3L))
    assertEquals(error.server.map(_.sqlState), Some("22P02"))
    assert(sentBytes < 16 * MB, s"$sentBytes bytes")

  over("a flood of warnings during a COPY neither hangs nor grows"): (database, url) =>
    server.admin(database) { admin =>
      server.execute(admin, "CREATE TABLE t (i text)")
      server.execute(
        admin,
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN " +
          "RAISE WARNING '%', repeat('w', 500); RETURN NEW; END$$"
      )
      server.execute(
        admin,
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()"
      )
    }
    val data = manyRows("1234567\n") // 8192 rows
    // 4 MB of warnings a block: more than the buffers of any socket.
    val blocks = Tier.size("weir.sql.blocks", 4, 25)
    var told = 0L
    var untold = 0L
    val count: ServerNotice => Unit = notice =>
      if notice.message.endsWith("which are not shown") then
        untold += notice.message.takeWhile(_.isDigit).toLong
      else told += 1
    withSession(url, count) { (_, session) =>
      Task.direct {
        session.beginCopy(sql("COPY t FROM STDIN")).await
        for _ <- 1 to blocks do session.write(data, 0, data.length).await
        assertEquals(session.endCopy.await, blocks * 8192L)
        assertEquals(session.run("SELECT 1").await.rows, 1L)
      }
    }
    assertEquals(told + untold, blocks * 8192L)
    assert(told <= (blocks + 2L) * NoticeDispatcher.Kept, told)

  over("a flood of warnings of a statement is passed on as it comes"): (_, url) =>
    val warnings = Tier.size("weir.sql.warnings", 80_000, 200_000)
    var told = 0
    var before = 0L
    var most = 0L
    val watch: ServerNotice => Unit = _ =>
      told += 1
      if told == 1 then
        System.gc()
        before = usedBytes
      if told % (warnings / 4) == 0 then
        System.gc()
        most = most.max(usedBytes)
    withSession(url, watch) { (_, session) =>
      session.run(
        s"DO $$$$BEGIN FOR i IN 1..$warnings LOOP RAISE WARNING 'w %', i; END LOOP; END$$$$"
      )
    }
    assertEquals(told, warnings)
    assert(most - before < 5 * MB, s"${(most - before) / MB} MB")

  private def usedBytes: Long = Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory

  over("what a listener throws is the error of the task, and the connection goes on"): (_, url) =>
    val boom = Boom()
    withSession(url, _ => throw boom) { (_, session) =>
      Task.direct {
        assertEquals(session.run("DO $$BEGIN RAISE WARNING 'w'; END$$").attempt.await, Left(boom))
        assertEquals(session.run("SELECT 1").await.rows, 1L)
      }
    }

  over("an error is known without another byte being sent"): (_, url) =>
    withSession(url) { (_, session) =>
      Task.direct {
        session.run("CREATE TABLE t (i int)").await: Unit
        session.beginCopy(sql("COPY t FROM STDIN")).await
        assert(!session.copyHasFailed)
        val data = sql("bad\n") ++ manyRows("1234567\n")
        for _ <- 1 to 5 do session.write(data, 0, data.length).await
        eventually("the error has come")(session.copyHasFailed)
        assertEquals(serverError(session.endCopy).await.copyRow, Some(1L))
        assert(!session.isCopying && !session.copyHasFailed)
        assertEquals(session.run("SELECT 1").await.rows, 1L)
      }
    }

  over("many COPYs, good ones, bad ones, aborted ones, leave the connection usable"): (_, url) =>
    val seed = Option(System.getProperty("weir.sql.seed")).fold(System.nanoTime())(_.toLong)
    val rounds = Tier.size("weir.sql.rounds", 60, 300)
    val random = scala.util.Random(seed)
    val block = manyRows("1234567\n")
    println(s"-Dweir.sql.seed=$seed")
    withSession(url) { (_, session) =>
      Task.direct {
        session.run("CREATE TABLE t (i int)").await: Unit
        for round <- 1 to rounds do
          session.beginCopy(sql("COPY t FROM STDIN")).await
          val good = random.nextInt(3)
          for _ <- 1 to good do session.write(block, 0, block.length).await
          random.nextInt(4) match
            case 0 => assertEquals(session.endCopy.await, good * 8192L, s"round $round")
            case 1 =>
              session.write(sql("bad\n"), 0, 4).await
              val e = serverError(session.endCopy).await
              assertEquals(e.copyRow, Some(good * 8192L + 1), s"round $round")
            case 2 => session.abortCopy.await
            case _ =>
              session.write(sql("bad\n"), 0, 4).await
              session.abortCopy.await
          assertEquals(session.run("SELECT 1").await, Done(1, "SELECT 1"), s"round $round")
      }
    }
