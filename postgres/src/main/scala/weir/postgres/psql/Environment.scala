package weir.postgres.psql

import java.nio.charset.Charset
import scala.collection.mutable
import weir.postgres.PsqlOptions

/** The surroundings of a script: the current folder and the variables of the environment, which it
  * may change, and the shell, which it may use if the options allow that.
  */
private[psql] final class Environment(options: PsqlOptions):
  val folder: Folder = Folder(options.folder)
  private val values = mutable.HashMap.from(sys.env)
  private val changed = mutable.LinkedHashSet.empty[String]

  def get(name: String): Option[String] = values.get(name)

  /** Sets a variable, or removes it. */
  def set(name: String, value: Option[String]): Unit =
    changed += name
    value match
      case None => values.remove(name): Unit
      case Some(text) => values(name) = text

  /** Returns what the shell runs: the text, its folder, and the changes of its environment.
    *
    * **Fails** with a `CommandProblem` if no program may run.
    *
    * @param what
    *   of the script runs it
    */
  def shell(what: String, command: String): List[String] =
    if !options.allowsShell then
      throw CommandProblem(
        s"$what runs a program, which is refused here",
        "Allow it with --allow-shell (PsqlOptions.allowsShell), if you trust the script.",
        endsRun = true
      )
    val text = Variables.text(command)
    if text.contains('\ufffd') || !Environment.native.newEncoder.canEncode(text) then
      throw CommandProblem(
        s"$what: this text would have other bytes in ${Environment.native}",
        "Write the program to a file in ASCII, and name that.",
        endsRun = true
      )
    val changes = changed.toList.map(name => get(name).fold(name)(value => s"$name=$value"))
    text :: folder.name :: changes

  /** Returns the file of this name, or what the shell runs if the word begins with a bar. */
  def target(word: String): List[String] =
    if word.startsWith("|") then shell("|", word.drop(1))
    else List(folder.file(Variables.text(word)).normalize.toString)

private object Environment:
  /** The encoding of the texts that the system passes to a program. */
  private val native = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"))
