package weir.postgres.psql

/** The files of a script that are open, each read in the place of a command of the one before it,
  * and the `\if` blocks that are open in each.
  */
private[psql] final class OpenFiles:
  private var open = List.empty[(String, Conditionals)]

  /** Returns the blocks of the file that is read. */
  def conditionals: Conditionals = open.headOption.fold(outside)(_._2)
  private val outside = Conditionals()

  def begin(name: String): Unit = open = (name, Conditionals()) :: open

  /** The blocks of the file before are open again. */
  def end(): Unit = open = open.tail

  /** Returns the name of the file that is read, if there is one. */
  def name: Option[String] = open.headOption.map(_._1)

  /** Returns true if one of the files is the standard input. */
  def hasStandardInput: Boolean = open.exists(_._1 == Commands.standardInput)

  /** Returns true if the file that is read is the standard input. **Fails** with a `CommandProblem`
    * if it is read for the standard input.
    */
  def isStandardInput: Boolean =
    val isIt = name.contains(Commands.standardInput)
    if !isIt && hasStandardInput then
      throw CommandProblem(
        "the standard input, which a file within it cannot read",
        "It is the script, which has been read ahead. Write the data to a file.",
        endsRun = true
      )
    isIt
