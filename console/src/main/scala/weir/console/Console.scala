package weir.console

import java.net.InetAddress
import weir.{Resource, Task, WeirRuntime}

/** A web server that shows the fibers, streams and metrics of a runtime while the program runs. */
final class Console private[console] (server: ConsoleServer):

  /** Returns the port that it listens on. */
  def port: Int = server.port

  /** Returns the address to open in a browser. */
  def url: String = server.url

object Console:

  /** The port of the examples. */
  private[console] val usualPort = 8090

  /** Serves the pages of `runtime` until the end of the scope. The pages have no effect on the
    * program unless `mayChange` is set.
    *
    * Without a token, only this machine is served: `host` must be a loopback address, and a request
    * must name `localhost`. With a token, each request must have it: in a header `Authorization:
    * Bearer TOKEN`, or in a cookie, which `/?token=TOKEN` sets. The connection is not encrypted:
    * put a proxy with TLS in front of it, unless you trust the network.
    *
    * **Fails** with an `IllegalArgumentException` if the arguments do not fit together, or with a
    * `java.io.IOException` if the port cannot be used.
    * {{{
    * val program: Task[Unit] = weir.console.Console.serve(8090).use { console =>
    *   Task(println(s"see ${console.url}"))
    * }
    * }}}
    *
    * @param port the port; 0 takes a free one
    * @param token the secret that each request must have
    * @param mayChange true to let the page cancel fibers, and revive or delete dead jobs
    * @param host the address to listen on
    */
  def serve(
      port: Int = usualPort,
      token: Option[String] = None,
      mayChange: Boolean = false,
      host: String = "localhost"
  )(using runtime: WeirRuntime): Resource[Console] =
    val settings = ConsoleSettings(port, token, mayChange, host)
    Resource
      .make(Task.delay(ConsoleServer.start(settings, runtime)))(server => Task.delay(server.stop()))
      .map(Console(_))

/** The arguments of a console.
  *
  * @param host the address to listen on
  */
private[console] final case class ConsoleSettings(
    port: Int,
    token: Option[String],
    mayChange: Boolean,
    host: String
):

  /** Returns the address of `host`. Throws an `IllegalArgumentException` if the settings do not fit
    * together.
    */
  def checked(): InetAddress =
    require(
      port >= 0 && port <= 65535,
      s"Console.serve: port was $port. It must be from 0 to 65535; 0 takes a free port."
    )
    require(
      token.forall(text => text.nonEmpty && text.forall(ConsoleSettings.mayBeInToken)),
      "Console.serve: the token was empty, or has a character that a cookie cannot have. Use " +
        "letters, digits, '-', '_' and '.'."
    )
    val address =
      try InetAddress.getByName(host)
      catch
        case _: java.net.UnknownHostException =>
          throw IllegalArgumentException(
            s"Console.serve: host was $host, which is no address of this machine. Use localhost, " +
              "or 0.0.0.0 with a token."
          )
    require(
      address.isLoopbackAddress || token.nonEmpty,
      s"Console.serve: host was $host, and there is no token. Other machines may connect only " +
        "with a token. Set token, or leave out host."
    )
    address

private[console] object ConsoleSettings:
  private def mayBeInToken(char: Char): Boolean =
    char < 128 && (char.isLetterOrDigit || "-_.".contains(char))
