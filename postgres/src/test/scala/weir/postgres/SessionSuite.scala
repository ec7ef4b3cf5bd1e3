package weir.postgres

import weir.Task

class SessionSuite extends ServerSuite:
  over("a statement says what it has done"): (_, url) =>
    withSession(url) { (_, session) =>
      Task.direct {
        session.run("DROP TABLE IF EXISTS a; CREATE TABLE a (i int)").await: Unit
        assertEquals(
          session.execute(sql("INSERT INTO a VALUES (1), (2)")).await,
          Done(2, "INSERT 0 2")
        )
        assertEquals(session.execute(sql("SELECT * FROM a")).await, Done(2, "SELECT 2"))
        assertEquals(session.execute(sql("SET x.y = 1")).await, Done(0, "SET"))
        session.run("CREATE OR REPLACE PROCEDURE p() LANGUAGE sql AS 'SELECT 1'").await: Unit
        assertEquals(session.execute(sql("CALL p()")).await, Done(0, "CALL"))
        assertEquals(session.transaction, Session.Transaction.Idle)
        session.run("BEGIN").await: Unit
        assertEquals(session.transaction, Session.Transaction.Open)
        assertEquals(serverError(session.run("SELECT 1/0")).await.sqlState, "22012")
        assertEquals(session.transaction, Session.Transaction.Failed)
        session.run("ROLLBACK").await: Unit
      }
    }

  over("its calls run on threads of the system"): (_, url) =>
    var wasVirtual = Option.empty[Boolean]
    ScriptConnection
      .open(url)
      .use { connection =>
        val session = Session(connection, _ => wasVirtual = Some(Thread.currentThread.isVirtual))
        session.run("DO $$BEGIN RAISE WARNING 'w'; END$$")
      }
      .runSync(): Unit
    assertEquals(wasVirtual, Some(false))

  over("a COPY says how many rows it has added, and the connection goes on"): (_, url) =>
    withSession(url) { (connection, session) =>
      Task.direct {
        assert(connection.isWatched)
        session.run("DROP TABLE IF EXISTS c; CREATE TABLE c (i int)").await: Unit
        session.beginCopy(sql("COPY c FROM STDIN")).await
        session.write(sql("1\n2"), 0, 3).await
        session.write(sql("xx\n3\n"), 2, 3).await
        assertEquals(session.endCopy.await, 3L)
        assertEquals(session.run("SELECT * FROM c").await.rows, 3L)
        session.beginCopy(sql("COPY c FROM STDIN")).await
        assertEquals(session.endCopy.await, 0L)
      }
    }
