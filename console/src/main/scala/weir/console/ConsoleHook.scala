package weir.console

import weir.{RuntimeHook, WeirRuntime}

/** Starts a console where the JVM was started with `-Dweir.console=8090`. It works as soon as it is
  * on the class path. `-Dweir.console.token`, `-Dweir.console.host` and
  * `-Dweir.console.change=true` are the other arguments of `Console.serve`.
  */
final class ConsoleHook extends RuntimeHook:

  def started(runtime: WeirRuntime): Unit = ConsoleHook.start(runtime): Unit

private[console] object ConsoleHook:

  /** Starts a console as the system properties say, and returns it. If that is not possible, prints
    * a line, and the program continues.
    */
  def start(runtime: WeirRuntime): Option[ConsoleServer] =
    property("weir.console").flatMap { text =>
      try
        val server = ConsoleServer.start(settings(text), runtime)
        System.err.println(s"weir: the console is at ${server.url}")
        Some(server)
      catch
        case error: (IllegalArgumentException | java.io.IOException) =>
          val problem = error.getMessage.stripPrefix("requirement failed: ")
          System.err.println(s"weir: there is no console. $problem")
          None
    }

  private def settings(port: String): ConsoleSettings =
    ConsoleSettings(
      port.toIntOption.getOrElse(
        throw IllegalArgumentException(
          s"-Dweir.console was $port. It must be a port, such as ${Console.usualPort}."
        )
      ),
      property("weir.console.token"),
      property("weir.console.change").contains("true"),
      property("weir.console.host").getOrElse("localhost")
    )

  private def property(name: String): Option[String] = Option(System.getProperty(name))
