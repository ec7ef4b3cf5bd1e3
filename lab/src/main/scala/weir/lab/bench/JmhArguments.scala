package weir.lab.bench

import java.nio.file.Path

import weir.program.{BadInput, OptionValue}

/** The user's arguments for JMH.
  *
  * @param forJmh
  *   the arguments that JMH gets
  * @param results
  *   where JMH's own results are to go, those of all modules in one file
  */
final case class JmhArguments(forJmh: Vector[String], results: Option[Path]):
  /** Returns the question if JMH is only asked to list something, and none if it is to measure. The
    * question says if each module has an answer of its own.
    */
  def question: Option[JmhArguments.Question] =
    forJmh.flatMap(JmhArguments.questions.get).headOption

object JmhArguments:
  enum Question:
    case OfEachModule, OfJmh

  private val questions = Map(
    "-l" -> Question.OfEachModule,
    "-lp" -> Question.OfEachModule,
    "-h" -> Question.OfJmh,
    "-lprof" -> Question.OfJmh,
    "-lrf" -> Question.OfJmh
  )

  /** **Fails** with [[BadInput]] if results are asked for in a form that cannot be put together.
    */
  def parse(arguments: Seq[String]): JmhArguments =
    val format = valueOf("-rf", arguments)
    val file = valueOf("-rff", arguments)
    format.filter(_.toLowerCase != "json").foreach { other =>
      throw BadInput("-rf", s"$other is not possible here.", "Use -rf json, --json or --report.")
    }
    val target = file.orElse(format.map(_ => "jmh-result.json"))
    JmhArguments(
      without("-rff", without("-rf", arguments)).toVector,
      target.map(OptionValue.target("-rff", _))
    )

  private def valueOf(option: String, arguments: Seq[String]): Option[String] =
    arguments.indexOf(option) match
      case -1 => None
      case at =>
        arguments.lift(at + 1).orElse(throw BadInput(option, "its value is missing.", "Give one."))

  private def without(option: String, arguments: Seq[String]): Seq[String] =
    arguments.indexOf(option) match
      case -1 => arguments
      case at => arguments.patch(at, Nil, 2)
