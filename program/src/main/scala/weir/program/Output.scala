package weir.program

import java.io.{BufferedOutputStream, IOException, OutputStream, PrintStream, PrintWriter}
import java.nio.ByteBuffer
import java.nio.channels.Pipe
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

/** The standard output and the standard error of the program. All that it prints goes through them.
  *
  * A `PrintStream` and a `PrintWriter` keep an error only as a flag, which is the same for a full
  * disk and for a reader that has gone. The streams below them tell the two apart.
  */
final class Output(stdout: OutputStream, stderr: OutputStream):
  private val errors = Output.Checked(stderr, _ => ())
  val err: PrintStream = Output.printing(errors, System.err)
  private val results = Output.Checked(stdout, why => err.println(s"weir: $why"))
  val out: PrintStream = Output.printing(results, System.out)

  /** Returns the exit code of `run`, or 1 instead of 0 if a part of its output could not be
    * written. A reader that has gone, such as `head`, is no error.
    */
  def exitCode(run: (PrintWriter, PrintWriter) => Int): Int =
    val writers = List(out, err).map(PrintWriter(_, true))
    val code = run(writers.head, writers.last)
    writers.foreach(_.flush())
    if code == 0 && (results.isIncomplete || errors.isIncomplete) then 1 else code

object Output:
  /** The charset is the system's; where that is ASCII, as in the locale C, it is UTF-8, since ASCII
    * would replace all other characters.
    */
  private def printing(stream: OutputStream, like: PrintStream): PrintStream =
    val charset = if like.charset == US_ASCII then UTF_8 else like.charset
    PrintStream(BufferedOutputStream(stream, 8192), true, charset)

  /** The system's message for a pipe without a reader, which may be in the user's language. */
  private lazy val brokenPipe: String =
    val pipe = Pipe.open()
    try
      pipe.source.close()
      val _ = pipe.sink.write(ByteBuffer.allocate(1))
      ""
    catch case error: IOException => String.valueOf(error.getMessage)
    finally pipe.sink.close()

  /** Remembers that `stream` has failed, and tells of the first error unless the reader has gone.
    */
  private final class Checked(stream: OutputStream, tell: String => Unit) extends OutputStream:
    @volatile private var hasFailed = false
    @volatile private var hasReader = true

    /** Returns true if something could not be written although there is a reader. */
    def isIncomplete: Boolean = hasFailed && hasReader

    def write(byte: Int): Unit = keeping(stream.write(byte))

    override def write(bytes: Array[Byte], from: Int, count: Int): Unit =
      keeping(stream.write(bytes, from, count))

    override def flush(): Unit = keeping(stream.flush())

    private def keeping(write: => Unit): Unit =
      try write
      catch
        case error: IOException =>
          val isFirst = !hasFailed
          hasFailed = true
          if isFirst then
            hasReader = String.valueOf(error.getMessage) != brokenPipe
            if hasReader then tell(s"the output cannot be written (${error.getMessage}).")
          throw error
