package weir.lab.gather

/** A way to run a list of tasks, from Monix's published benchmark of a task type's speed.
  *
  * @param systems
  *   the systems that have the form. A list of ready tasks can be run in order only if a task is a
  *   value that has not started; in other systems that is a plain loop. Cats Effect, Ox and Future
  *   have no form that takes results as they come.
  */
enum Form(val label: String, val systems: Set[String]):
  case SequenceReady extends Form("sequence ready", Having.taskValues)
  case SequenceForked extends Form("sequence forked", Having.everyone)
  case GatherReady extends Form("gather ready", Having.everyone)
  case GatherForked extends Form("gather forked", Having.everyone)
  case UnorderedReady extends Form("unordered ready", Having.asTheyCome)
  case UnorderedForked extends Form("unordered forked", Having.asTheyCome)

  /** Returns the name in results, as in `gather forked: 1000`. */
  def caseOf(size: Int): String = s"$label: $size"

object Form:
  /** Returns the form with that label. **Fails** if there is none. */
  def of(label: String): Form =
    values
      .find(_.label == label)
      .getOrElse(throw IllegalArgumentException(s"there is no form '$label'"))

/** The systems of each form. They are not in `Form`'s companion, whose cases come before its other
  * values.
  */
private object Having:
  val taskValues = Set("weir", "cats-effect", "zio", "monix", "scalaz")
  val everyone = taskValues ++ Set("future", "ox", "virtual-threads")
  val asTheyCome = Set("weir", "zio", "monix", "scalaz", "virtual-threads")
