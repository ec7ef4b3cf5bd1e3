package weir.postgres.psql

/** `\restrict` and its end, between which a dump of pg_dump holds no other command: a server that
  * is not trusted could have put one into a name.
  */
private[psql] final class Restriction:
  private var key: String | Null = null

  /** Returns true between the two. */
  def holds: Boolean = key ne null

  /** Carries out `\restrict` or `\unrestrict`. */
  def change(name: String, arguments: Arguments): Unit =
    val word = arguments.wholeLine().stripTrailing
    if !word.matches("[A-Za-z0-9]+") then
      throw refused(
        s"\\$name takes one word of letters and digits, and nothing more on its line",
        "Text after it would not be run."
      )
    if name == "restrict" then key = word
    else if key != word then
      throw refused(
        "\\unrestrict without its \\restrict, or with another word",
        "The word of both must be the same. Was the script put together of parts of others?"
      )
    else key = null

  /** **Fails** if the command may not run now.
    */
  def check(name: String): Unit =
    if holds && name != "unrestrict" then
      throw refused(
        s"the command \\$name after \\restrict",
        "Up to \\unrestrict, only SQL is allowed: pg_dump writes both, so that nothing in a " +
          "database can become a command."
      )

  private def refused(problem: String, hint: String) = CommandProblem(problem, hint, endsRun = true)
