package weir.postgres.psql

import ServerLog.Event
import ServerLog.Event.{Failed, Sent}

/** The effects of a script: the traffic with the server, the way in which it ended, and the
  * resulting database.
  */
final case class Effect(events: Vector[Event], failure: Option[String], contents: Vector[String])

/** Compares what psql does with a script with what another program does. */
final class Comparison(server: LoggedServer, psql: ScriptRunner):

  /** Returns the difference between it and `weir`; none if both do the same. */
  def difference(script: Script, mode: Mode, weir: ScriptRunner): Option[String] =
    def run(refused: Set[Int]): (Effect, Set[Int]) =
      val left = effect(weir, "by_weir", script.withoutDataOf(refused), mode)
      val more = left.events
        .collect { case Failed(context = "", query = sql) => Script.copyNumber(sql) }
        .flatten
        .toSet -- refused
      if more.isEmpty then (left, refused) else run(refused ++ more)
    val (left, refused) = run(Set.empty)
    val right = effect(psql, "by_psql", script.withoutDataOf(refused), mode)
    Comparison.difference(left, right)

  /** Returns the position of the first error according to Weir, if the server says another one. */
  def misplaced(script: Script, weir: ScriptRunner): Option[String] =
    val left = effect(weir, "by_weir", script.bytes, Mode.Stop)
    for
      case Failed(query = query, position = position) <- left.events.lastOption if position.nonEmpty
      said <- left.failure
      place <- ":(\\d+):(\\d+): ".r.findFirstMatchIn(said)
      meant = Comparison.fromCharacter(query, position.toInt).takeWhile(_ != '\n')
      line = String(script.bytes, script.charset)
        .stripPrefix("\ufeff")
        .split("\n", -1)(place.group(1).toInt - 1)
      text = Comparison.fromCharacter(line, place.group(2).toInt)
      if !text.replace("\\;", ";").startsWith(meant)
    yield s"$said\n  there: $text\n  meant: $meant"

  /** The same, of what is left alone: the rows in any order, and whether there was an error. */
  def differenceLeft(script: Script, mode: Mode, weir: ScriptRunner): Option[String] =
    val left = effect(weir, "by_weir", script.bytes, mode)
    val right = effect(psql, "by_psql", script.bytes, mode)
    def only(effect: Effect) =
      val own = effect.contents.filterNot(_.contains("weir")).sorted
      effect.copy(events = Vector.empty, contents = own)
    // psql accepts scripts that the journal refuses with a message.
    if left.failure.exists(_.contains("joined by \\; that begin or end a transaction")) then None
    else Comparison.difference(only(left), only(right))

  /** Runs the script in an empty database by `runner`, and returns the effects. */
  def effect(
      runner: ScriptRunner,
      database: String,
      script: Array[Byte],
      mode: Mode
  ): Effect =
    DatabaseContents.clear(server, database)
    server.log.forget()
    val failure = ScriptRunner.withFile(script)(runner(_, database, mode))
    val events = server.log.session(database)
    Effect(events, failure, DatabaseContents.of(server, database))

object Comparison:
  def difference(weir: Effect, psql: Effect): Option[String] =
    val ofPsql = psql.events.filterNot(isOnlyComments)
    val ofWeir = withoutItsOwn(weir.events, ofPsql.length).filterNot(isOnlyComments)
    val sent = ofWeir.zipAll(ofPsql, null, null).indexWhere(!same(_, _))
    if sent >= 0 then
      def nth(events: Vector[Event]) = events.lift(sent).fold("nothing")(_.toString)
      Some(s"the server's event ${sent + 1}:\n  Weir: ${nth(ofWeir)}\n  psql: ${nth(ofPsql)}")
    else if weir.failure.exists(!_.contains(leftOpen)) != psql.failure.isDefined then
      Some(s"the end:\n  Weir: ${ending(weir)}\n  psql: ${ending(psql)}")
    else
      val line = weir.contents.zipAll(psql.contents, "nothing", "nothing").find(_ != _)
      line.map((left, right) => s"the database:\n  Weir: $left\n  psql: $right")

  private def fromCharacter(text: String, character: Int): String =
    text.substring(text.offsetByCodePoints(0, character - 1))

  /** Weir's error for a script that psql rolls back silently. */
  private val leftOpen = "the script has ended in the middle of a transaction"

  private def ending(effect: Effect) = effect.failure.getOrElse("success")

  private def same(weir: Event, psql: Event): Boolean = (weir, psql) match
    case (Sent(left), Sent(right)) => sameText(left, right)
    case (left: Failed, right: Failed) =>
      withoutPlace(left) == withoutPlace(right) &&
      sameText(left.query, right.query)
    case _ => false

  /** psql sends the end of the data as well, a line more for the server in which it finds no end of
    * a value.
    */
  private def withoutPlace(failed: Failed): Failed =
    val isOpen = failed.message == "unterminated CSV quoted field"
    failed.copy(query = "", position = "", context = if isOpen then "" else failed.context)

  /** Without the semicolon; psql leaves out empty lines, too, outside of quotes.
    */
  private[psql] def sameText(weir: String, psql: String): Boolean =
    sameLines(weir.stripTrailing, psql.stripTrailing) ||
      sameLines(weir.stripTrailing, psql.stripTrailing.stripSuffix(";").stripTrailing)

  private def sameLines(weir: String, psql: String): Boolean =
    var at = 0
    var isSame = true
    for i <- weir.indices if isSame do
      val c = weir.charAt(i)
      if at < psql.length && psql.charAt(at) == c then at += 1
      else isSame = c == '\n' && i > 0 && weir.charAt(i - 1) == '\n'
    isSame && at == psql.length

  /** Without the statements that Weir adds: settings, and the ROLLBACK of a transaction that the
    * script has left open.
    */
  private def withoutItsOwn(events: Vector[Event], expected: Int): Vector[Event] =
    val ofScript = events.dropWhile {
      case Sent(sql) => own(sql)
      case _ => false
    }
    if ofScript.length > expected && ofScript.last == Sent("ROLLBACK") then ofScript.init
    else ofScript

  private val own = Set("SET client_min_messages = warning", "SET application_name = 'weir sql'")

  /** psql sends a statement of nothing but comments; it does nothing. */
  private def isOnlyComments(event: Event): Boolean = event match
    case Sent(sql) =>
      var rest = sql
      var before = ""
      while before != rest do
        before = rest
        // The innermost first, since they nest.
        rest = rest.replaceFirst("(?s)/\\*((?!/\\*|\\*/).)*\\*/", "")
      rest.replaceAll("--[^\n\r]*", "").forall(c => c.isWhitespace || c == ';')
    case _ => false
