package weir.bench.child.stack

import cats.effect.IO
import cats.effect.kernel.{Async, Resource}
import com.sun.management.OperatingSystemMXBean
import fs2.io.net.Network
import java.lang.management.ManagementFactory
import weir.Task
import weir.bench.Rivals
import weir.interop.cats.given
import weir.interop.fs2.given
import weir.lab.{ChildOutput, Experiment, Harness}
import weir.program.Result

/** Measures the Typelevel stack on Weir's `Task` and on `IO`.
  *
  * Every row is one program, written for any effect, and is run in the same way on both. A part has
  * a JVM of its own, since what it compiles would disturb the next.
  */
object Stack extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit = system match
    case "weir" =>
      Measured[Task](system, options, out)([A] => (task: Task[A]) => task.runSync()).measureAll()
    case "cats-effect" =>
      Measured[IO](system, options, out)([A] => (io: IO[A]) => Rivals.runCats(io)).measureAll()
    case other => throw IllegalArgumentException(s"stack does not run on '$other'")

  /** The unit of how long the processors work for one operation: on a machine that does something
    * else as well, that says more than how long it takes.
    */
  val processorTime = "us of processor"

  /** Returns the rows of a part. */
  private[stack] def rows[F[_]: Async: Network](
      part: String,
      postgres: => Postgres
  ): Resource[F, List[Row[F]]] = part match
    case "effects" => Resource.pure(EffectRows[F])
    case "fs2" => Resource.pure(Fs2Rows[F])
    case "http4s" => Http4sRows[F]
    case "skunk" => SkunkRows[F](postgres)
    case other => throw IllegalArgumentException(s"stack has no part '$other'")

  private final class Measured[F[_]: Async: Network](
      system: String,
      options: Experiment.Options,
      out: ChildOutput
  )(run: [A] => F[A] => A):
    private val processor = ManagementFactory.getOperatingSystemMXBean
      .asInstanceOf[OperatingSystemMXBean]

    def measureAll(): Unit =
      val part = options.text("part")
      val (rows, release) = run(Stack.rows[F](part, Postgres.of(options)).allocated)
      try for row <- rows if row.name.contains(options.text("only")) do measure(row)
      finally run(release)

    private def measure(row: Row[F]): Unit =
      val _ = round(row, options.long("warmUpMillis"))
      val rounds = Vector.fill(options.int("rounds"))(round(row, options.long("caseMillis")))
      val perSecond = Harness.median(rounds.map(_._1))
      out.result(Result.opsPerSecond(row.name, system, perSecond))
      val micros = Harness.median(rounds.map(_._2))
      out.result(Result(row.name, system, micros, Stack.processorTime, Result.lower))

    /** Runs for so long; returns operations a second, and the processor time of one in µs. */
    private def round(row: Row[F], millis: Long): (Double, Double) =
      val (start, used) = (System.nanoTime(), processor.getProcessCpuTime)
      var operations = 0L
      while System.nanoTime() - start < millis * 1_000_000 do
        val result = run(row.run)
        if result != row.expected then
          throw IllegalStateException(s"${row.name} returned $result, not ${row.expected}")
        operations += row.operations
      (
        operations * 1e9 / (System.nanoTime() - start),
        (processor.getProcessCpuTime - used) / 1e3 / operations
      )

/** A line of the table: a program, the number of its operations, and its result. */
private[stack] final case class Row[F[_]](
    name: String,
    operations: Int,
    expected: Long,
    run: F[Long]
)

/** A server that listens on this machine, and trusts every connection. */
private[stack] final case class Postgres(port: Int, user: String, database: String)

private[stack] object Postgres:
  def of(options: Experiment.Options): Postgres = Postgres(
    options.int("postgresPort"),
    options.text("postgresUser"),
    options.text("postgresDatabase")
  )
