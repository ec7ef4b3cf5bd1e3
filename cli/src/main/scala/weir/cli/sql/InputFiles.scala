package weir.cli.sql

import java.nio.file.{Files, NoSuchFileException}

import weir.cli.sql.SqlSettings.Input
import weir.program.{BadInput, OptionValue}

/** The files that the user named, each of them looked at before any of them is applied. */
object InputFiles:
  private val customDump = "PGDMP".getBytes

  /** **Fails** with [[BadInput]] if one is missing, a folder, not readable, or no script.
    */
  def check(names: Seq[String]): Vector[Input] =
    if names.count(_ == "-") > 1 then
      throw BadInput("-", "standard input can be read once only.", "Name it once.")
    names.toVector.map(name => if name == "-" then Input.StandardInput else file(name))

  private def file(name: String): Input =
    def bad(problem: String, hint: String) = throw BadInput(name, problem, hint)
    if name.isEmpty then throw BadInput("FILE", "'' is no name.", "Is a variable empty?")
    val path = OptionValue.path("FILE", name)
    BadInput.whileReading(name):
      if Files.isDirectory(path) then
        val isDump = Files.exists(path.resolve("toc.dat"))
        if isDump then bad("this is a dump in directory format.", "Use pg_restore for it.")
        bad("this is a folder, not a file.", "Name the files inside it.")
      else if !Files.isRegularFile(path) then
        // A pipe: reading its beginning would take it away.
        if !Files.exists(path) then throw NoSuchFileException(name)
        Input.File(path)
      else
        val in = Files.newInputStream(path)
        try
          if in.readNBytes(customDump.length).sameElements(customDump) then
            bad("this is a dump in custom format, not a script.", "Use pg_restore for it.")
        finally in.close()
        Input.File(path)
