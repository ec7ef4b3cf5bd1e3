package weir.postgres.psql

/** A text that is known only once something has been carried out: a program in backquotes, or the
  * statements before it. The reader waits for that, and reads the text again.
  */
private[postgres] final class Wanted(val first: Commands.Later, problem: String, hint: String)
    extends CommandProblem(problem, hint, endsRun = true)

/** The results of the programs and names of the command that is read.
  *
  *   - **Shared**: the run writes while the reader waits.
  */
private[postgres] final class Answered:
  private var outputs = Vector.empty[Either[CommandProblem, String]]
  private var next = 0
  private var results = Option.empty[Map[String, String]]

  /** True if the server has refused the last COPY, or takes no more of its data. */
  @volatile var refusesData: Boolean = false

  /** The next program in backquotes has printed this, or its output cannot be had. */
  def add(output: Either[CommandProblem, String]): Unit =
    outputs :+= output.map(_.stripSuffix("\n"))

  /** The statements before have left these variables. */
  def set(variables: Map[String, String]): Unit = results = Some(variables)

  /** The arguments are read from the beginning. */
  private[psql] def begin(): Unit = next = 0

  /** Returns the output of the next program; null if it has not run. **Fails** if there is none. */
  private[psql] def output(): String | Null =
    if next == outputs.size then null
    else
      next += 1
      outputs(next - 1).fold(throw _, identity)

  /** Returns them, if they were asked for. */
  private[psql] def variables: Option[Map[String, String]] = results

  /** More of the script is carried out. */
  def forget(): Unit =
    outputs = Vector.empty
    results = None
