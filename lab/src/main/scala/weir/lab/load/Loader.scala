package weir.lab.load

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*

import weir.Task
import weir.lab.Children

/** A program that loads the rows into the table.
  *
  * @param system
  *   its name in tables and files
  */
enum Loader(val system: String):
  /** `psql -f`, the program at this path. */
  case Psql(program: Path) extends Loader("psql")

  /** A statement, for which the server reads the file by itself. */
  case ServerCopy extends Loader("server-copy")

  /** `weir sql`, in a JVM of its own. */
  case Weir(name: String, options: Seq[String]) extends Loader(name)

object Loader:
  /** The time that a load took.
    *
    * @param run
    *   without the start of a JVM, from the first byte that is read
    * @param whole
    *   from the start of the process to its end
    */
  final case class Took(run: FiniteDuration, whole: FiniteDuration)

  private val counts = Seq(0, 1, 2, 3, 4, 8)
  private val sizes = Seq("1MB", "4MB", "16MB")

  /** As the tables have them: a row for each prefetch, as in the article that this measures again.
    */
  def all(psql: Option[Path]): Vector[Loader] =
    val prefetches = counts.map(n => Weir(s"weir-n$n", Seq("--prefetch", s"$n"))) ++
      sizes.map(size => Weir(s"weir-$size", Seq("--prefetch", size)))
    psql.map(Psql(_)).toVector ++ Vector(ServerCopy, Weir("weir", Nil)) ++ prefetches :+
      Weir("weir-jobs-2", Seq("--jobs", "2"))

  /** psql itself, rather than the script before it that some systems have on the path, which starts
    * a second or so later.
    */
  def findPsql(): Option[Path] =
    val folders = Seq(
      versions("/usr/lib/postgresql", "bin"),
      versions("/opt/homebrew/opt", "bin"),
      versions("/usr/local/opt", "bin"),
      versions("/usr", "bin").filter(_.getParent.getFileName.toString.startsWith("pgsql"))
    ).flatten ++ sys.env.getOrElse("PATH", "").split(":").filter(_.nonEmpty).map(Path.of(_))
    folders.map(_.resolve("psql")).find(Files.isExecutable(_))

  /** Returns the folders of Postgres in `parent`, the newest first. */
  private def versions(parent: String, below: String): Seq[Path] =
    val names = Option(Path.of(parent).toFile.list()).toSeq.flatten
    names
      .filter(name =>
        name.startsWith("postgresql") || name.startsWith("pgsql") || name.forall(c =>
          c.isDigit || c == '.'
        )
      )
      .sortBy(name => -name.filter(_.isDigit).toIntOption.getOrElse(0))
      .map(Path.of(parent, _, below))

  /** The command of `weir sql`, with the JVM options and the jars that the launcher starts it with.
    * The launcher passes these on as properties.
    */
  private[load] def weirCommand: Seq[String] =
    val flags = sys.props.get("weir.sql.flags").toSeq.flatMap(_.split(" "))
    val cache = sys.props.get("weir.sql.cache").map(file => s"-XX:AOTCache=$file")
    val jars = sys.props.getOrElse("weir.sql.jars", sys.props("java.class.path"))
    Seq(Children.java) ++ flags ++ cache ++ Seq("-cp", jars, "weir.program.Main", "sql")

  def run(loader: Loader, files: LoadFiles, database: LoadDatabase): Task[Either[String, Took]] =
    loader match
      case Psql(program) =>
        val arguments = Seq("-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.url, "-f")
        val command = s"$program" +: arguments :+ s"${files.script}"
        Task(process(command).map(whole => Took(whole, whole)))
      case ServerCopy =>
        database.copyFrom(files.data).map(whole => Right(Took(whole, whole)))
      case Weir(_, options) =>
        Task {
          val json = Files.createTempFile("weir-load", ".json")
          try
            val arguments =
              Seq(s"${files.script}", "--db", database.url, "--quiet", "--json", s"$json")
            process(weirCommand ++ arguments ++ options).map(whole => Took(seconds(json), whole))
          finally Files.delete(json)
        }

  private def seconds(json: Path): FiniteDuration =
    val results = ujson.read(Files.readString(json))("results").arr
    val figure = results.find(_("case").str == "seconds").get("value").num
    (figure * 1e9).round.nanos

  /** The time that it took, or its last line of output if it failed. */
  private def process(command: Seq[String]): Either[String, FiniteDuration] =
    val errors = Files.createTempFile("weir-load", ".log")
    val builder = ProcessBuilder(command*)
      .redirectOutput(ProcessBuilder.Redirect.DISCARD)
      .redirectError(errors.toFile)
    val start = System.nanoTime()
    val process = Children.start(builder)
    try
      process.getOutputStream.close()
      if !process.waitFor(5, TimeUnit.MINUTES) then Left("it took longer than 5 minutes")
      else
        val whole = (System.nanoTime() - start).nanos
        val said = Files.readString(errors).linesIterator.filter(_.nonEmpty).nextOption()
        Either.cond(
          process.exitValue == 0,
          whole,
          s"exit code ${process.exitValue}${said.fold("")(": " + _)}"
        )
    finally
      Children.end(process)
      Files.delete(errors)
