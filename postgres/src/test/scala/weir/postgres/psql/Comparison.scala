package weir.postgres.psql

import ServerLog.Event
import ServerLog.Event.{Failed, Sent}

/** What a script did: what the server was sent and answered, how it ended, and what it left. */
final case class Effect(events: Vector[Event], succeeded: Boolean, contents: Vector[String])

/** Compares what psql and Weir do with one script. */
final class Comparison(server: TestServer, psql: ScriptRunner, weir: ScriptRunner):

  /** What differs, in a line or some; nothing if both do the same. */
  def difference(script: Script, mode: Mode): Option[String] =
    val left = effect(weir, "by_weir", script.bytes, mode)
    val refused = left.events.zip(left.events.drop(1)).collect {
      case (Sent(sql), Failed(context = "")) => Script.copyNumber(sql)
    }
    val right = effect(psql, "by_psql", script.withoutDataOf(refused.flatten.toSet), mode)
    Comparison.difference(left, right)

  private[psql] def effect(runner: ScriptRunner, database: String, script: Array[Byte], mode: Mode): Effect =
    DatabaseContents.clear(server, database)
    server.log.forget()
    val succeeded = ScriptRunner.withFile(script)(runner(_, database, mode))
    val events = server.log.session(database)
    Effect(events, succeeded, DatabaseContents.of(server, database))

object Comparison:
  def difference(weir: Effect, psql: Effect): Option[String] =
    val ofPsql = psql.events.filterNot(isOnlyComments)
    val ofWeir = withoutItsOwn(weir.events).filterNot(isOnlyComments)
    val sent = ofWeir.zipAll(ofPsql, null, null).indexWhere(!same(_, _))
    if sent >= 0 then
      def nth(events: Vector[Event]) = events.lift(sent).fold("nothing")(_.toString)
      Some(s"the server's event ${sent + 1}:\n  Weir: ${nth(ofWeir)}\n  psql: ${nth(ofPsql)}")
    else if weir.succeeded != psql.succeeded then
      Some(s"the end:\n  Weir: ${ending(weir)}\n  psql: ${ending(psql)}")
    else
      val line = weir.contents.zipAll(psql.contents, "nothing", "nothing").find(_ != _)
      line.map((left, right) => s"the database:\n  Weir: $left\n  psql: $right")

  private def ending(effect: Effect) = if effect.succeeded then "success" else "failure"

  private def same(weir: Event, psql: Event): Boolean = (weir, psql) match
    case (Sent(left), Sent(right)) => sameText(left, right)
    case (left: Failed, right: Failed) =>
      left.copy(query = "", position = "") == right.copy(query = "", position = "")
    case _ => false

  /** Without the semicolon; psql leaves out empty lines, too, where they stand outside of quotes. */
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

  /** What Weir sends on its own account before the script. */
  private def withoutItsOwn(events: Vector[Event]): Vector[Event] = events.filter {
    case Sent(sql) => !own.exists(sql.startsWith)
    case _ => true
  }

  private val own = Vector("SET client_min_messages=warning")

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
