package weir.postgres.apply

import java.io.{IOException, OutputStream}
import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.concurrent.ConcurrentHashMap
import weir.postgres.Results
import weir.postgres.display.{Display, TableText}
import weir.postgres.protocol.RowSink
import weir.postgres.psql.{CommandProblem, ShellProgram, Special}

/** Prints the results of statements as psql does: by the settings of `\pset`, and to where `\o`
  * says.
  *
  *   - **Owner only**: the fiber that applies the scripts, or the thread on which it calls the
  *     server.
  *
  * @param print
  *   prints a text where psql prints by default
  * @param charset
  *   returns that of the session
  */
private[apply] final class Output(results: Results, print: String => Unit, charset: () => Charset)
    extends RowSink:
  import Output.*

  private var display =
    if results == Results.Csv then Display().set("format", Some("csv")) else Display()
  private var isQuiet = true
  private val usual: Target = if results == Results.Dropped then Nowhere else Printed(print)

  /** The target of `\o`. */
  private var current: Target = usual

  // of the statement that runs
  private var shown = display
  private var target = current
  private var table: TableText | Null = null
  private var hasCopied = false
  private var failure: Throwable | Null = null

  private val programs = ConcurrentHashMap.newKeySet[Program]().nn // that run

  /** Returns true if the rows of the next statements are printed. */
  def isPrinting: Boolean = current ne Nowhere

  /** Before a statement: its rows go to where `\o` says. */
  def begin(): Unit =
    shown = display
    target = current

  /** Before a statement of `\g`. */
  def begin(settings: List[(String, Option[String])], to: List[String]): Unit =
    shown = settings.foldLeft(display) { case (is, (name, value)) => is.set(name, value) }
    target = if to.isEmpty then current else Later(() => targetOf(to, appends = false))

  /** After a statement. **Fails** with a `CommandProblem` if its rows could not be printed. */
  def end(): Unit =
    table = null
    if target ne current then closing(target)
    target = current
    val failed = failure
    failure = null
    failed match
      case null => ()
      case error: IOException => throw unwritten(error)
      case error => throw error

  /** Carries out `\pset`. */
  def set(name: String, value: Option[String]): Unit = display = name match
    case "a" => display.set("format", Some(unless(Display.Format.Aligned, "unaligned")))
    case "H" =>
      display.set("format", Some(unless(Display.Format.Other("html"), "html", isOf = false)))
    case _ => display.set(name, value)

  private def unless(format: Display.Format, other: String, isOf: Boolean = true): String =
    if (display.format == format) == isOf then other else "aligned"

  /** Says if the tags of statements, such as `INSERT 0 1`, are left out. */
  def quiet(value: String): Unit = isQuiet = Special.boolean(value).contains(true)

  /** Carries out `\o`: sends what follows to another target; to the usual one if there is none.
    *
    * @param appends
    *   keeps what is in the file
    */
  def redirect(to: List[String], appends: Boolean): Unit =
    val next = if to.isEmpty then usual else targetOf(to, appends)
    closeCurrent()
    current = next

  /** Prints a text, such as that of `\qecho`. */
  def write(text: String): Unit =
    if current eq Nowhere then print(text)
    else
      try current.write(text.getBytes(charset()), charset())
      catch case error: IOException => throw unwritten(error)

  /** Prints what a command has done, unless the run is quiet. */
  def tell(text: String): Unit = if !isQuiet then write(text)

  /** Writes data of a `\copy … TO STDOUT`. */
  def copyTarget: OutputStream = new OutputStream:
    def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)
    override def write(bytes: Array[Byte], from: Int, length: Int): Unit =
      val data = java.util.Arrays.copyOfRange(bytes, from, from + length)
      if current eq Nowhere then print(String(data, charset())) else current.write(data, charset())

  /** Closes what is open, and waits for a program that reads. */
  def close(): Unit = closeCurrent()

  /** Closes what is open, after an error of the run or its cancel. */
  def abandon(): Unit =
    val open = List(target, current).distinct
    current = usual
    target = usual
    for one <- open do
      try one.abandon()
      catch case _: IOException => () // the error of the run is told
    programs.forEach(_.abandon())
    programs.clear()

  private def closeCurrent(): Unit =
    val open = current
    current = usual
    target = usual
    closing(open)

  private def targetOf(to: List[String], appends: Boolean): Target = to match
    case List(name) => Written(CopyOutput.file(name, appends))
    case command => Piped(started(command))

  /** A program that takes no more ends nothing, as in psql. */
  private final class Piped(program: Program) extends Target:
    private var isBroken = false
    def write(bytes: Array[Byte], charset: Charset): Unit =
      if !isBroken then
        try program.input.write(bytes)
        catch case _: IOException => isBroken = true
    override def close(): Unit = ended(program): Unit
    override def abandon(): Unit = () // `Output` does

  private def started(command: List[String]): Program =
    val program = Program.start(command, print)
    programs.add(program): Unit
    program

  private def ended(program: Program): Int =
    val code = program.close()
    programs.remove(program): Unit
    code

  /** Returns the input of the program to which `\copy` writes. Its close **fails** with a
    * `CommandProblem` if the program has failed.
    */
  def programInput(command: List[String]): OutputStream = new OutputStream:
    private val program = started(command)
    def write(byte: Int): Unit = program.input.write(byte)
    override def write(bytes: Array[Byte], from: Int, length: Int): Unit =
      program.input.write(bytes, from, length)
    override def flush(): Unit = program.input.flush()
    override def close(): Unit =
      val code = ended(program)
      if code != 0 then
        throw CommandProblem(
          s"${command.head}: ${ShellProgram.ended(code)}",
          "Look at what it has printed."
        )

  /** Ends the programs that run: a write to one of them may wait for ever. Called on any thread. */
  def killPrograms(): Unit = programs.forEach(_.kill())

  private def closing(open: Target): Unit =
    try open.close()
    catch case error: IOException => throw unwritten(error)

  private def unwritten(error: IOException) = CommandProblem(
    s"the rows cannot be written: ${error.getMessage}",
    "Look at the file or the program to which they go."
  )

  // ---- the results, on the thread that reads them ----

  def columns(names: Vector[Array[Byte]], types: Vector[Int]): Unit = guarded:
    val charset = this.charset()
    table = TableText.of(shown, names.zip(types).map(TableText.column(_, _, charset)))

  def row(values: Array[Array[Byte] | Null]): Unit = guarded:
    val text = table
    if text ne null then
      val charset = this.charset()
      text.add(values.map(value => if value eq null then null else decoded(value.nn, charset)))
      if text.size > KeptCharacters then put(text.take())

  /** Returns the text of a value. **Fails** with a `CommandProblem` if the text goes to a file or a
    * program and would have other bytes there than the server has sent.
    */
  private def decoded(value: Array[Byte], charset: Charset): String =
    val text = String(value, charset)
    val mayDiffer = if charset == UTF_8 then text.contains('\ufffd') else charset != ISO_8859_1
    if mayDiffer && (target ne usual) && !java.util.Arrays.equals(text.getBytes(charset), value)
    then throw otherBytes(text, charset)
    text

  private def otherBytes(text: String, charset: Charset) = CommandProblem(
    s"the value \"${text.take(40)}\" cannot be written with the bytes that the server has sent: " +
      s"they are no text that Java's $charset knows",
    "Set client_encoding to UTF8, or write the rows with \\copy (SELECT …) TO FILE."
  )

  def copyBegins(): Unit =
    hasCopied = true
    guarded(target.write(Array.emptyByteArray, charset()))

  def copied(data: Array[Byte]): Unit = guarded(target.write(data, charset()))

  def completed(tag: String): Unit = guarded:
    val text = table
    table = null
    if text ne null then put(text.end())
    // psql does not put the tag of a COPY behind its data
    if (text eq null) && !hasCopied || Tagged.exists(tag.startsWith) then tagged(tag)
    hasCopied = false

  override def describedNone(): Unit =
    guarded(put("The command has no result, or the result has no columns.\n"))

  private def tagged(tag: String): Unit = if !isQuiet then put(s"$tag\n")

  /** A COPY FROM has ended. */
  def copyEnded(tag: String): Unit = if isPrinting then guarded(tagged(tag))

  def failed(): Unit =
    table = null
    hasCopied = false

  private def put(text: String): Unit = target.write(text.getBytes(charset()), charset())

  private inline def guarded(inline body: Unit): Unit =
    if failure eq null then
      try body
      catch case error: Throwable => failure = error

private[apply] object Output:
  /** More than this of a result is printed before its end, in the formats that allow it. */
  private val KeptCharacters = 1 << 20

  /** The statements with rows after which psql prints the tag. */
  private val Tagged = List("INSERT", "UPDATE", "DELETE")

  /** Where rows go. */
  trait Target:
    def write(bytes: Array[Byte], charset: Charset): Unit
    def close(): Unit = ()
    def abandon(): Unit = close()

  private object Nowhere extends Target:
    def write(bytes: Array[Byte], charset: Charset): Unit = ()

  private final class Printed(print: String => Unit) extends Target:
    def write(bytes: Array[Byte], charset: Charset): Unit =
      if bytes.nonEmpty then print(String(bytes, charset))

  private final class Written(file: OutputStream) extends Target:
    def write(bytes: Array[Byte], charset: Charset): Unit = file.write(bytes)
    override def close(): Unit = file.close()

  /** The target of `\g`, which psql opens for the first row. */
  private final class Later(open: () => Target) extends Target:
    private var opened: Target | Null = null
    def write(bytes: Array[Byte], charset: Charset): Unit =
      if opened eq null then opened = open()
      opened.nn.write(bytes, charset)
    override def close(): Unit = if opened ne null then opened.nn.close()
    override def abandon(): Unit = if opened ne null then opened.nn.abandon()
