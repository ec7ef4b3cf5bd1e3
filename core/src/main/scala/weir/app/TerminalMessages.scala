package weir.app

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.{CountDownLatch, TimeUnit}
import scala.jdk.CollectionConverters.*

/** Prints the messages of a process that is about to end, without waiting for ever for a reader. */
private[weir] object TerminalMessages:
  private val makingMillis = 10_000L

  /** Prints `text` to the standard error, after the text that is buffered for the standard output.
    * Returns after `limitMillis` if that blocks, as on a full pipe. Making the text, which may be a
    * dump of many fibers, has ten seconds of its own.
    */
  def print(text: => String, limitMillis: Long = 2000): Unit =
    val isMade = CountDownLatch(1)
    val thread = Thread.ofPlatform().daemon().name("weir-terminal-messages").start { () =>
      val made =
        try text
        finally isMade.countDown()
      try flush()
      finally System.err.println(made)
    }
    isMade.await(makingMillis, TimeUnit.MILLISECONDS): Unit
    thread.join(limitMillis)

  /** Writes the text that is buffered for the standard output. */
  def flush(): Unit =
    Console.out.flush()
    System.out.flush()

  /** Returns the stack trace of `error` as text. */
  def trace(error: Throwable): String =
    val text = StringWriter()
    error.printStackTrace(PrintWriter(text))
    text.toString.stripTrailing

  /** Returns the stack traces of the threads that keep a JVM from ending, as text. */
  def threads(): String =
    Thread.getAllStackTraces.asScala
      .collect {
        case (thread, frames) if !thread.isDaemon && frames.nonEmpty =>
          frames.mkString(s"${thread.getName}\n    at ", "\n    at ", "")
      }
      .mkString("\n")
