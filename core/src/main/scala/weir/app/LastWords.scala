package weir.app

import java.io.{PrintWriter, StringWriter}
import scala.jdk.CollectionConverters.*

/** What a process says that has been asked to end, even where nobody reads it. */
private[weir] object LastWords:
  private val patienceMillis = 2000L

  /** Prints `text` to the standard error, after what is buffered for the standard output. Where that does not get through, as in
    * a full pipe, it gives up after two seconds.
    */
  def say(text: => String): Unit =
    val thread = Thread.ofPlatform().daemon().name("weir-last-words").start { () =>
      try flush()
      finally System.err.println(text)
    }
    thread.join(patienceMillis)

  def flush(): Unit =
    Console.out.flush()
    System.out.flush()

  def trace(error: Throwable): String =
    val text = StringWriter()
    error.printStackTrace(PrintWriter(text))
    text.toString.stripTrailing

  /** Where the threads stand for which a JVM waits before it ends. */
  def threads(): String =
    Thread.getAllStackTraces.asScala
      .collect {
        case (thread, frames) if !thread.isDaemon && frames.nonEmpty =>
          frames.mkString(s"${thread.getName}\n    at ", "\n    at ", "")
      }
      .mkString("\n")
