package weir.postgres.psql

import java.io.InputStream
import java.nio.file.{Files, Path}

import weir.postgres.*

/** Weir, over the Unix socket as psql.
  *
  * @param blockBytes
  *   the number of bytes of the script that each read returns; as many as fit, if it is 0
  * @param resumes
  *   keeps a journal in the database
  * @param jobs
  *   the number of connections that take the data of a COPY, in chunks that are short enough for
  *   small data
  */
final class WeirRunner(
    server: LoggedServer,
    blockBytes: Int = 0,
    resumes: Boolean = false,
    jobs: Int = 1
) extends ScriptRunner:
  def apply(file: Path, database: String, mode: Mode): Option[String] =
    val open = ScriptConnection.open(server.url(database))
    val options = ApplyOptions(
      onError = if mode == Mode.Continue then OnError.Continue else OnError.Stop,
      singleTransaction = mode == Mode.Single,
      resume = Option.when(resumes)(Resume()),
      jobs = Option.when(jobs > 1)(MoreConnections(jobs, open, _ => 64))
    )
    val script =
      if blockBytes == 0 then SqlScript.file(file)
      else
        SqlScript.fromInputStream("script")(DribblingInput(Files.newInputStream(file), blockBytes))
    open.use(script.applyTo(_, options)).attempt.runSync() match
      case Right(_) => None
      case Left(error: ScriptException) => Some(error.toString)
      case Left(other) => throw AssertionError(s"It failed with $other", other)

/** Gives at most `blockBytes` at a time. */
final class DribblingInput(input: InputStream, blockBytes: Int) extends InputStream:
  def read(): Int = input.read()
  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    input.read(bytes, from, length.min(blockBytes))
  override def close(): Unit = input.close()
