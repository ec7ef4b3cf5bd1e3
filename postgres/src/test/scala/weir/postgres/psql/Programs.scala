package weir.postgres.psql

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.jdk.CollectionConverters.*

/** Postgres's own programs, where they are installed. */
object Programs:
  /** The end of one of them. */
  final case class Result(code: Int, out: String, err: String)

  /** `name` on the `PATH` or in the usual folders, the newest version first. */
  def find(name: String): Option[Path] =
    val path =
      sys.env.getOrElse("PATH", "").split(java.io.File.pathSeparatorChar).toVector.map(Path.of(_))
    val versions =
      Vector("/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt").map(Path.of(_))
    val folders = versions.filter(Files.isDirectory(_)).flatMap { folder =>
      val inside = Files.list(folder).iterator().asScala.toVector
      inside.filter(_.toString.matches(".*(postgres|libpq|/\\d+).*")).sortBy(_.toString).reverse
    }
    (folders.map(_.resolve("bin")) ++ path).map(_.resolve(name)).find(Files.isExecutable(_))

  /** The major version that `program --version` tells. */
  def majorVersion(program: Path): Int =
    "\\d+".r.findFirstIn(run(Vector(program.toString, "--version"), Map.empty).out).fold(0)(_.toInt)

  /** Runs `command` to its end. **Fails** after `seconds`. */
  def run(
      command: Vector[String],
      environment: Map[String, String],
      input: Option[Path] = None,
      seconds: Int = 60,
      folder: Option[Path] = None
  ): Result =
    val out = Files.createTempFile("weir-psql", ".out")
    val err = Files.createTempFile("weir-psql", ".err")
    try
      val builder = ProcessBuilder(command.asJava)
      builder.environment().keySet().removeIf(_.startsWith("PG")): Unit
      environment.foreach((name, value) => builder.environment().put(name, value))
      folder.foreach(path => builder.directory(path.toFile))
      builder.redirectOutput(out.toFile).redirectError(err.toFile)
      builder.redirectInput(input.fold(java.io.File("/dev/null"))(_.toFile))
      val process = builder.start()
      if !process.waitFor(seconds, TimeUnit.SECONDS) then
        process.destroyForcibly().waitFor(): Unit
        throw AssertionError(s"${command.mkString(" ")} had not ended after $seconds s")
      def text(file: Path) = String(Files.readAllBytes(file), UTF_8) // rows may be in any encoding
      Result(process.exitValue(), text(out), text(err))
    finally
      Files.delete(out)
      Files.delete(err)
