package weir.postgres.protocol

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Outcome, Task}
import weir.postgres.*
import weir.postgres.psql.CutProxy

/** A cancel that comes at any moment of a call. */
class DriverCallSuite extends ServerSuite:
  /** Runs `body` with a session whose connections, even those of its cancel requests, go through a
    * proxy.
    */
  private def proxied[A](graceMillis: Long)(
      body: Task.Direct ?=> (CutProxy, ScriptConnection, Session) => A
  ): A =
    val proxy = CutProxy(server.port)
    val url = s"postgresql://postgres:postgres@127.0.0.1:${proxy.port}/postgres?sslmode=disable"
    try
      ScriptConnection
        .open(url)
        .use(connection =>
          Task.direct(body(proxy, connection, Session.within(connection, _ => (), graceMillis)))
        )
        .runSync()
    finally proxy.close()

  test("a cancel before the call, or after it, asks the server for nothing"):
    proxied(2000) { (proxy, connection, session) =>
      val early = DriverCall(connection, 2000)
      early.cancel.await
      var ran = false
      intercept[java.util.concurrent.CancellationException](early.run { ran = true })
      assert(!ran)
      early.cancel.await
      val late = DriverCall(connection, 2000)
      assertEquals(late.run(7), 7)
      late.cancel.await
      val failed = DriverCall(connection, 2000)
      intercept[Boom](failed.run(throw Boom()))
      failed.cancel.await
      assertEquals(proxy.accepted.get, 1, "only the session's own connection")
      assert(!session.connectionLost)
    }

  test("a cancel during the call returns after the call, which a request has ended"):
    proxied(20000) { (proxy, connection, _) =>
      val begun, asked = CountDownLatch(1)
      val call = DriverCall(connection, 20000)
      val ended = AtomicInteger()
      val running = Task {
        call.run {
          begun.countDown()
          await(asked)
          ended.incrementAndGet()
        }
      }.start.await
      await(begun)
      val canceling = call.cancel.map(_ => ended.get).start.await
      eventually("a request has come")(proxy.accepted.get == 2)
      asked.countDown()
      assertEquals(canceling.joinOrFail.await, 1)
      running.join.await: Unit
    }

  test(
    "a cancel returns when its request is over, which would hit the next statement, or closes " +
      "the connection"
  ):
    val grace = 1500.millis
    proxied(grace.toMillis) { (proxy, connection, session) =>
      server.admin("postgres") { other =>
        server.execute(other, "SELECT pg_advisory_lock(77)")
        val fiber = session.run("SELECT pg_advisory_lock(77)").start.await
        backend(server, connection, "wait_event_type = 'Lock'")
        proxy.hold() // the request is on its way, for longer than anybody waits for it
        val begun = System.nanoTime()
        val canceling = startCancel(fiber)
        eventually("a request has come")(proxy.accepted.get == 2)
        server.execute(other, "SELECT pg_advisory_unlock(77)") // the call ends by itself
        canceling.joinOrFail.await
        val took = (System.nanoTime() - begun).nanos
        assertEquals(fiber.join.await, Outcome.Canceled)
        assert(took >= grace - 50.millis, s"it waited $took only")
        assert(session.connectionLost, "the request may come yet")
      }
    }
