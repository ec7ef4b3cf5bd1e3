package weir.postgres.journal

import java.nio.file.Path
import weir.postgres.*

/** Applies a script with a journal, in a JVM that a test kills: `ADDRESS FILE JOBS [PLACE]`. It
  * says when it begins; the exit code is 0, or 3 with the place of a statement that may have been
  * applied.
  */
object ResumeProgram:
  def main(args: Array[String]): Unit =
    val place = args.lift(3).flatMap(Resume.Place.parse)
    val resume = Resume(at = place, found = (_, _) => println("begun"))
    val more = MoreConnections(args(2).toInt, ScriptConnection.open(args(0)))
    val options = ApplyOptions(resume = Some(resume), jobs = Some(more))
    val scripts = List(SqlScript.file(Path.of(args(1))))
    val result = ScriptConnection
      .open(args(0))
      .use(SqlScripts.applyTo(_, scripts, options))
      .attempt
      .runSync()
    result match
      case Right(_) => System.exit(0)
      case Left(error: ScriptException) if error.getMessage.contains("not known whether") =>
        println(s"uncertain ${error.position.get}")
        System.exit(3)
      case Left(error) =>
        error.printStackTrace()
        System.exit(1)
