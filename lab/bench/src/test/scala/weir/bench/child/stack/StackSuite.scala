package weir.bench.child.stack

import cats.effect.IO
import cats.effect.kernel.Async
import fs2.io.net.Network
import scala.concurrent.duration.*
import weir.Task
import weir.bench.Rivals
import weir.interop.cats.given
import weir.interop.fs2.given

/** Every row of `weir stack` that needs no server returns what it says, on both effects. */
class StackSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 1.minute

  rows[Task]("Task")([A] => (task: Task[A]) => task.runSync())
  rows[IO]("IO")([A] => (io: IO[A]) => Rivals.runCats(io))

  private def rows[F[_]: Async: Network](effect: String)(run: [A] => F[A] => A): Unit =
    def noPostgres: Postgres = throw AssertionError("no part of these needs one")
    for part <- List("effects", "fs2", "http4s") do
      test(s"$part on $effect"):
        val (rows, release) = run(Stack.rows[F](part, noPostgres).allocated)
        try
          assert(rows.nonEmpty)
          for row <- rows do assertEquals(run(row.run), row.expected, row.name)
        finally run(release)
