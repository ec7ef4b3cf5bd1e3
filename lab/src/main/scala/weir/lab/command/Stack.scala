package weir.lab.command

import java.util.concurrent.Callable
import scala.concurrent.duration.*

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.stack.StackJob
import weir.program.{BadInput, OptionValue}

/** `weir stack`: its options, and nothing else. */
@Command(
  name = "stack",
  sortOptions = false,
  description = Array(
    "Run http4s, skunk, fs2 and Cats Effect's primitives on Weir's Task, and on IO.",
    "",
    "Each row is one program, written for any effect. Each part runs in a JVM of its own, on " +
      "both effects in turns, and the medians are compared. skunk gets a Postgres of the " +
      "program's own.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Stack extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--part"),
    paramLabel = "PART[,PART]",
    description = Array("Run these parts only. Default: http4s,skunk,fs2,effects.")
  )
  private[command] var part: String = StackJob.parts.mkString(",")

  @Opt(
    names = Array("--row"),
    paramLabel = "TEXT",
    description = Array("Run only the rows with this in their name.")
  )
  private[command] var row: String = ""

  @Opt(
    names = Array("--rounds"),
    paramLabel = "N",
    description = Array(
      "The number of times that each part runs on each effect. Default: 3; with --quick, 1."
    )
  )
  private[command] var rounds: String | Null = null

  def call(): Int =
    val line = spec.commandLine
    StackJob(settings, line.getOut, line.getErr).run()

  private[lab] def settings: StackJob.Settings =
    val asked = part.split(",").map(_.trim).toVector
    asked.find(!StackJob.parts.contains(_)).foreach { name =>
      throw BadInput(
        "--part",
        s"there is no part '$name'.",
        s"There are: ${StackJob.parts.mkString(", ")}."
      )
    }
    val usualRounds = if lab.isQuick then "1" else "3"
    StackJob.Settings(
      systems = lab.systems(StackJob.systems),
      parts = StackJob.parts.filter(asked.contains),
      only = row,
      rounds = OptionValue.count("--rounds", Option(rounds).getOrElse(usualRounds), 1, 100),
      warmUp = if lab.isQuick then 1.second else 4.seconds,
      caseTime = if lab.isQuick then 200.millis else 1.second,
      lab = lab.checked()
    )
