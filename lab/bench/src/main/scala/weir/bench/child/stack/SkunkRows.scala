package weir.bench.child.stack

import cats.effect.kernel.{Async, Resource}
import cats.effect.std.Console
import fs2.Stream
import fs2.io.net.Network
import org.typelevel.otel4s.metrics.Meter
import org.typelevel.otel4s.trace.Tracer
import skunk.codec.all.int4
import skunk.implicits.*
import skunk.{Query, Session}

/** Measures the queries a second of skunk, by 64 fibers over a pool of 8, and the rows a second of
  * a cursor.
  */
private[stack] object SkunkRows:
  def apply[F[_]: Network](postgres: Postgres)(using F: Async[F]): Resource[F, List[Row[F]]] =
    given Tracer[F] = Tracer.noop[F]
    given Meter[F] = Meter.noop[F]
    given Console[F] = Console.make[F]
    Session
      .Builder[F]
      .withHost("127.0.0.1")
      .withPort(postgres.port)
      .withUser(postgres.user)
      .withDatabase(postgres.database)
      .pooled(8)
      .map(sessions => List(queries(sessions), rows(sessions)))

  private val plus: Query[Int, Int] = sql"SELECT $int4 + 1".query(int4)
  private val series: Query[Int, Int] = sql"SELECT generate_series(1, $int4)".query(int4)

  private def queries[F[_]: Async](sessions: Resource[F, Session[F]]): Row[F] =
    val queries = 512
    val run = Stream
      .range(0, queries)
      .covary[F]
      .parEvalMapUnordered(64)(i => sessions.use(_.unique(plus)(i)))
      .compile
      .fold(0L)(_ + _)
    Row("skunk, queries", queries, queries.toLong * (queries + 1) / 2, run)

  private def rows[F[_]: Async](sessions: Resource[F, Session[F]]): Row[F] =
    val rows = 20_000
    val run = sessions.use(_.stream(series)(rows, 1024).compile.fold(0L)(_ + _))
    Row("skunk, rows of a cursor", rows, rows.toLong * (rows + 1) / 2, run)
