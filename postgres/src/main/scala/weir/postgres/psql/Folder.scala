package weir.postgres.psql

import java.nio.file.{Files, Path}

/** The folder in which the relative names of files begin, which `\cd` changes. */
private[psql] final class Folder(first: Path):
  private var current = first

  /** Returns the file of this name. */
  def file(name: String): Path = current.resolve(withHome(name))

  /** Returns the file of this name, which is relative to the folder of the file `of`. */
  def sibling(of: String, name: String): Path =
    val parent = Path.of(of).getParent
    if (parent eq null) || name.startsWith("~") then file(name)
    else current.resolve(parent).resolve(name)

  /** Goes to another folder. **Fails** with a `CommandProblem` if there is none of this name. */
  def change(name: String): Unit =
    val next = file(name).normalize
    if !Files.isDirectory(next) then
      throw CommandProblem(
        s"could not change directory to \"$name\": ${Folder.problem(next)}",
        "Relative names begin in the folder in which the program was started."
      )
    current = next

  /** Returns its name. */
  def name: String = current.toString

  def goHome(): Unit = change("~")

  private def withHome(name: String): String =
    if name == "~" || name.startsWith("~/") then Folder.home + name.drop(1) else name

private[postgres] object Folder:
  private def home = sys.env.getOrElse("HOME", sys.props("user.home"))

  /** Returns the name of a file, which is never that of the standard input. */
  def nameOf(file: Path): String =
    val name = file.toString
    if name == Commands.standardInput then s"./$name" else name

  /** Returns the reason why a file cannot be read, in the words of C; null if it can. */
  def problem(file: Path): String | Null =
    if !Files.exists(file) then "No such file or directory"
    else if Files.isDirectory(file) then "Is a directory"
    else if !Files.isReadable(file) then "Permission denied"
    else null
