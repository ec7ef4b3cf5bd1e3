package weir.lab.load

import weir.program.{Result, TerminalTable, Text}

/** The measurements of the rounds, as a table and as results. */
final class LoadTable(files: LoadFiles, rounds: Map[String, Vector[Loader.Took]]):

  private def runs(system: String): Vector[Double] = rounds(system).map(_.run.toNanos / 1e9).sorted
  private def wholes(system: String): Vector[Double] =
    rounds(system).map(_.whole.toNanos / 1e9).sorted

  private def median(sorted: Vector[Double]): Double =
    val n = sorted.size
    (sorted((n - 1) / 2) + sorted(n / 2)) / 2

  /** Returns a line for each of `systems` that there are figures of. */
  def lines(systems: Seq[String]): Vector[String] =
    val psql = rounds.get("psql").map(_ => median(runs("psql")))
    val rows = for system <- systems if rounds.contains(system) yield
      val (run, whole) = (runs(system), wholes(system))
      def overPsql(seconds: Double): String = psql.fold("")(p => Text.decimal(seconds / p, 3))
      Seq(
        system,
        Text.decimal(median(run), 2),
        s"${Text.decimal(run.head, 2)} to ${Text.decimal(run.last, 2)}",
        Text.decimal(files.bytes / median(run) / 1e6, 1),
        overPsql(median(run)),
        Text.decimal(median(whole), 2),
        overPsql(median(whole))
      )
    val header =
      Seq("system", "s", "all runs", "MB/s", "over psql", "s with start", "over psql")
    TerminalTable.lines(header, rows)

  def results(systems: Seq[String]): Vector[Result] =
    val about = s"load ${Text.grouped(files.rows)} rows"
    for
      system <- systems.toVector if rounds.contains(system)
      (what, values) <- Seq(
        s"$about: run" -> runs(system),
        s"$about: with the start of the process" -> wholes(system)
      )
    yield Result(what, system, median(values), "s", Result.lower)
