package weir.postgres.psql

import weir.postgres.{Extended, Piece}
import weir.postgres.psql.Commands.{Later, Next}

/** Carries out `\bind` and the commands like it, which say how the next statement is sent, and
  * those of pipelines.
  */
private[postgres] final class ExtendedCommands(variables: Variables):
  import ExtendedCommands.*

  private val pipeline = PipelineCounts(variables)
  private var next: Extended | Null = null

  /** Returns true if the next statement is not sent as usual. */
  def isSet: Boolean = next ne null

  /** Returns true if also a statement without a text is sent at its semicolon. */
  def sendsEmpty: Boolean = isSet || pipeline.isOpen

  /** Returns true if it is sent without a text. */
  def needsNoText: Boolean = next match
    case _: (Extended.Named | Extended.Closed) => true
    case _ => false

  /** Returns the form of the statement that is sent now, and forgets it; null if it is sent as
    * usual.
    */
  def take(): Extended | Null =
    val form = next
    next = null
    if !pipeline.isOpen then form
    else
      pipeline.add()
      Extended.Piped(if form eq null then Extended.Bound(Nil) else form)

  /** Before any command is carried out. **Fails** if it is none for a pipeline that is open. */
  private[psql] def check(name: String): Unit =
    if pipeline.isOpen then
      if asking(name) then
        next = null
        throw notAllowed(name)
      else if refused(name) || name.equalsIgnoreCase("copy") then throw notAllowed(name, true)

  private[psql] def carryOut(name: String, arguments: Arguments): (List[Later], Next) =
    val before = next
    next = null
    name match
      case "bind" => set(Next.GoOn)(Extended.Bound(values(name, arguments)))
      case "bind_named" =>
        set(Next.GoOn)(Extended.Named(nameOf(name, arguments), values(name, arguments)))
      case "parse" => set(send)(Extended.Prepared(nameOf(name, arguments)))
      case "close_prepared" => set(send)(Extended.Closed(nameOf(name, arguments)))
      case "gdesc" if pipeline.isOpen => (Commands.failed(notAllowed(name)), Next.Keep)
      case "gdesc" => set(send)(Extended.Described)
      case "sendpipeline" =>
        if !pipeline.isOpen then throw notOpen(name)
        before match
          case bound: (Extended.Bound | Extended.Named) => set(send)(bound)
          case _ =>
            throw CommandProblem(
              "\\sendpipeline must be used after \\bind or \\bind_named",
              "Write ; to send a statement without parameters."
            )
      case _ => (ofPipeline(name, arguments), Next.Keep)

  private def set(then_ : Next)(form: Extended): (List[Later], Next) =
    next = form
    (Nil, then_)

  private def send = Next.Send(Piece.Answer.Dropped)

  private def ofPipeline(name: String, arguments: Arguments): List[Later] =
    name match
      case "startpipeline" =>
        pipeline.begin()
        List(Later(name, Nil))
      case "syncpipeline" =>
        if !pipeline.isOpen then throw notOpen(name)
        pipeline.sync()
        List(Later(name, Nil))
      case "flushrequest" =>
        pipeline.request()
        Nil
      case "flush" => if pipeline.isOpen then List(Later(name, Nil)) else Nil
      case "getresults" =>
        fetch(name, Option(arguments.next()).fold(0)(word => number(word.nn.text)))
      case _ =>
        if !pipeline.isOpen then throw notOpen(name)
        List(Later(name, List(pipeline.end().toString)), look)

  private def fetch(name: String, wanted: Int): List[Later] =
    if wanted < 0 then
      throw CommandProblem(
        "\\getresults: invalid number of requested results",
        "It takes a number, or nothing for all."
      )
    if pipeline.isEmpty then
      throw CommandProblem(
        "No pending results to get",
        "Write \\flushrequest or \\syncpipeline before \\getresults."
      )
    List(Later(name, List(pipeline.fetch(wanted).toString)), look)

  /** The settings that the reader follows may have changed by now. */
  private def look = Later("look", Nil)

  private def nameOf(command: String, arguments: Arguments): String =
    val name = arguments.next()
    if name eq null then
      throw CommandProblem(
        s"\\$command: missing required argument",
        "Give it the name of a prepared statement; '' is the one without a name."
      )
    name.text

  private def values(command: String, arguments: Arguments): List[String] =
    val values = arguments.rest().map(_.text)
    if values.sizeIs > MostParameters then
      throw CommandProblem(
        s"\\$command: number of parameters must be between 0 and $MostParameters",
        "Pass an array, or write a COPY."
      )
    values

private[psql] object ExtendedCommands:
  val withoutArguments: Set[String] = Set("endpipeline", "flush", "flushrequest", "gdesc") ++
    Set("sendpipeline", "startpipeline", "syncpipeline")

  val all: Set[String] =
    withoutArguments ++ Set("bind", "bind_named", "close_prepared", "getresults", "parse")

  /** The commands that need the rows of a statement at once. */
  private val asking = Set("crosstabview", "g", "gexec", "gset", "gx", "watch")

  /** The commands that send something themselves. */
  private val refused = Set("c", "connect", "encoding", "lo_export", "lo_import", "lo_unlink")

  private def notAllowed(name: String, endsRun: Boolean = false) = CommandProblem(
    s"\\$name not allowed in pipeline mode",
    "Write \\endpipeline before it.",
    endsRun
  )

  private def notOpen(name: String) = CommandProblem(
    s"\\$name not allowed outside of pipeline mode",
    "Write \\startpipeline before it."
  )

  /** The protocol counts parameters in two bytes. */
  private val MostParameters = 65535

  /** The number that C's `atoi` reads. */
  private def number(text: String): Int =
    "^\\s*[+-]?\\d+".r.findFirstIn(text).flatMap(_.trim.toIntOption).getOrElse(0)
