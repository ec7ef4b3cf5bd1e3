package weir.typelevel

import _root_.fs2.Stream
import cats.effect.kernel.Resource
import cats.effect.implicits.*
import cats.syntax.all.*
import org.typelevel.otel4s.metrics.Meter
import org.typelevel.otel4s.trace.Tracer
import scala.concurrent.duration.*
import skunk.codec.all.int4
import skunk.implicits.*
import skunk.{Query, SSL, Session, Void}
import weir.postgres.TestServer
import weir.{Tier, WeirSuite}

/** skunk, unchanged, on a real Postgres: its pool, cursors, cancels, TLS. */
class SkunkSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(2.minutes, 10.minutes)

  private lazy val database = TestServer.shared.newDatabase()

  testsOn(Backend.task)
  if Backend.hasControl then testsOn(Backend.io)

  private def testsOn[F[_]](backend: Backend[F]): Unit =
    import backend.given
    given Tracer[F] = Tracer.noop[F]
    given Meter[F] = Meter.noop[F]

    def pool(size: Int, ssl: SSL = SSL.None): Resource[F, Resource[F, Session[F]]] = Session
      .Builder[F]
      .withHost("localhost")
      .withPort(TestServer.shared.port)
      .withUserAndPassword("postgres", "postgres")
      .withDatabase(database)
      .withSSL(ssl)
      .pooled(size)

    def on[A](name: String)(body: => F[A]): Unit =
      test(s"${backend.name}: $name"):
        TestServer.shared: Unit
        database: Unit
        val before = OpenSockets.count
        backend.run(body): Unit
        eventually(s"no socket is left: ${OpenSockets.count}, $before before")(
          OpenSockets.count <= before + backend.lateSockets
        )

    val plus: Query[Int, Int] = sql"SELECT $int4 + 1".query(int4)
    val series: Query[Int, Int] = sql"SELECT generate_series(1, $int4)".query(int4)
    val sleeps: Query[Void, Int] = sql"SELECT 1 FROM pg_sleep(0.1)".query(int4)

    val queries = Tier(500, 20_000)
    on(s"$queries queries, 64 at a time, over a pool of 8"):
      pool(8).use { sessions =>
        Stream
          .range(0, queries)
          .covary[F]
          .parEvalMapUnordered(64)(i => sessions.use(_.unique(plus)(i)).map(_ == i + 1))
          .compile
          .fold(0)((right, is) => if is then right + 1 else right)
          .map(assertEquals(_, queries))
      }

    val rows = Tier(5_000, 100_000)
    on(s"a cursor of $rows rows, to its end, and not to its end"):
      pool(1).use(_.use { session =>
        for
          sum <- session.stream(series)(rows, 512).map(_.toLong).compile.foldMonoid
          some <- session.stream(series)(rows, 512).take(700).compile.count
          after <- session.unique(plus)(1)
        yield assertEquals((sum, some, after), (rows.toLong * (rows + 1) / 2, 700L, 2))
      })

    on("cancelled queries and cursors leave a pool that works"):
      pool(2).use { sessions =>
        def canceled(i: Int): F[Unit] = sessions
          .use(session =>
            if i % 2 == 0 then session.unique(sleeps).void
            else session.stream(series)(1_000_000, 64).compile.drain
          )
          .timeout((5 + i % 20).millis)
          .attempt
          .void
        for
          _ <- List.range(0, Tier(10, 200)).parTraverseN(4)(canceled)
          after <- List.range(0, 10).parTraverse(i => sessions.use(_.unique(plus)(i)))
        yield assertEquals(after, List.range(1, 11))
      }

    on("a failed query has skunk's error, and the session goes on"):
      pool(1).use(_.use { session =>
        for
          failed <- session.execute(sql"SELECT 1 / 0".query(int4)).attempt
          after <- session.unique(plus)(1)
        yield
          assert(failed.left.exists(_.getMessage.toLowerCase.contains("division by zero")), failed)
          assertEquals(after, 2)
      })

    on("TLS, by fs2's context over these sockets"):
      pool(1, SSL.Trusted)
        .use(_.use(_.unique(sql"""
        SELECT count(*)::int4 FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()
      """.query(int4))))
        .map(assertEquals(_, 1))
