package weir.postgres.psql

import java.nio.file.{Files, Path}

/** Something that applies a script to a database of the server, and lets nothing else connect to it
  * meanwhile.
  */
trait ScriptRunner:
  /** The error, if it reports one; under [[Mode.Continue]] errors of statements are not reported.
    */
  def apply(script: Path, database: String, mode: Mode): Option[String]

enum Mode:
  /** Ends at the first error, keeping what was done. */
  case Stop

  /** Goes on after errors. */
  case Continue

  /** Ends at the first error, keeping nothing. */
  case Single

/** The model. */
final class PsqlRunner(server: LoggedServer, psql: Path) extends ScriptRunner:
  def apply(script: Path, database: String, mode: Mode): Option[String] =
    val stop = if mode == Mode.Continue then "0" else "1"
    val single = if mode == Mode.Single then Vector("-1") else Vector.empty
    val command = Vector(s"$psql", "-X", "-q", "-v", s"ON_ERROR_STOP=$stop") ++ single
    val result =
      Programs.run(command ++ Vector("-d", database, "-f", s"$script"), server.environment)
    if result.code != 0 && result.code != 3 then
      throw AssertionError(s"psql ended with ${result.code}: ${result.err.take(1000)}")
    Option.when(result.code != 0)(result.err)

object ScriptRunner:
  /** Runs `body` with a file of these bytes. */
  def withFile[A](bytes: Array[Byte])(body: Path => A): A =
    val file = Files.createTempFile("weir-psql", ".sql")
    try
      Files.write(file, bytes)
      body(file)
    finally Files.delete(file)
