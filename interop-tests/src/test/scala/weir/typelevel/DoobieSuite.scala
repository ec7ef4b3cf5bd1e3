package weir.typelevel

import cats.effect.implicits.*
import cats.syntax.all.*
import com.zaxxer.hikari.HikariConfig
import doobie.hikari.HikariTransactor
import doobie.implicits.*
import doobie.util.transactor.Transactor
import scala.concurrent.duration.*
import weir.postgres.TestServer
import weir.{Tier, WeirSuite}

/** doobie, unchanged, with JDBC called plainly: no pool of threads to block on. */
class DoobieSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(2.minutes, 10.minutes)

  private lazy val database = TestServer.shared.newDatabase()

  testsOn(Backend.task)
  if Backend.hasControl then testsOn(Backend.io)

  private def testsOn[F[_]](backend: Backend[F]): Unit =
    import backend.given

    def driver: Transactor[F] = Transactor.fromDriverManager[F](
      driver = "org.postgresql.Driver",
      url = TestServer.shared.jdbc(database),
      logHandler = None
    )

    test(s"${backend.name}: a query, a stream of rows, a rollback"):
      val rows = Tier(2_000, 100_000)
      val xa = driver
      val program =
        for
          one <- sql"SELECT 1".query[Int].unique.transact(xa)
          sum <- sql"SELECT generate_series(1, $rows)"
            .query[Long]
            .stream
            .transact(xa)
            .compile
            .foldMonoid
          _ <- sql"DROP TABLE IF EXISTS t".update.run.transact(xa)
          _ <- sql"CREATE TABLE t (n INT)".update.run.transact(xa)
          failed <- (sql"INSERT INTO t VALUES (1)".update.run *> sql"SELECT 1 / 0"
            .query[Int]
            .unique)
            .transact(xa)
            .attempt
          left <- sql"SELECT count(*) FROM t".query[Int].unique.transact(xa)
        yield assertEquals(
          (one, sum, failed.isLeft, left),
          (1, rows.toLong * (rows + 1) / 2, true, 0)
        )
      backend.run(program)

    val queries = Tier(300, 10_000)
    test(s"${backend.name}: $queries transactions, 64 at a time, over 8 connections of Hikari"):
      val config = HikariConfig()
      config.setJdbcUrl(TestServer.shared.jdbc(database))
      config.setMaximumPoolSize(8)
      val program = HikariTransactor
        .fromHikariConfig[F](config)
        .use(xa =>
          List
            .range(0, queries)
            .parTraverseN(64)(i => sql"SELECT $i + 1".query[Int].unique.transact(xa))
            .map(assertEquals(_, List.range(1, queries + 1)))
        )
      backend.run(program)

    test(s"${backend.name}: 40 calls that block for 100 ms block nothing else"):
      val xa = driver
      val program = List
        .range(0, 40)
        .parTraverse(_ => sql"SELECT 1 FROM pg_sleep(0.1)".query[Int].unique.transact(xa))
        .timed
        .map((took, all) => (took, all.sum))
      val (took, sum) = backend.run(program)
      assertEquals(sum, 40)
      assert(took < 3.seconds, took) // one after the other they would take 4 s
