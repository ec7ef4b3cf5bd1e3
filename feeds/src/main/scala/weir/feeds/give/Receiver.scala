package weir.feeds.give

import java.io.{IOException, PrintWriter}
import java.nio.charset.StandardCharsets.UTF_8

import weir.io.Command
import weir.{Stream, Task}

/** The receiver of new items. */
trait Receiver:
  /** Why the item in `line`, a JSON object with a line feed, could not be given; none if it was. */
  def give(line: String): Task[Option[String]]

object Receiver:
  /** A command for the shell, which runs for each item, one after the other, and reads the line as
    * its standard input. It need not read all of it. The item is given when the command has ended
    * with 0.
    */
  def command(text: String): Receiver = line =>
    def builder = ProcessBuilder("sh", "-c", text)
      .redirectOutput(ProcessBuilder.Redirect.INHERIT)
      .redirectError(ProcessBuilder.Redirect.INHERIT)
    Command
      .runAs(builder)
      .use: process =>
        process
          .writeInput(Stream(line.getBytes(UTF_8)))
          .recover { case _: IOException => () }
          .flatMap(_ => process.exitCode)
          .map(code => Option.when(code != 0)(s"the command ended with $code"))

  /** Prints each line. The item is given when the line is flushed. */
  def printing(out: PrintWriter): Receiver = line =>
    Task.delay:
      out.print(line)
      Option.when(out.checkError())("the output cannot be written")
