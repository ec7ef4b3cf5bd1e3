package weir.cli.command

import java.io.{IOException, PrintWriter}
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.time.Duration
import java.util.concurrent.Callable
import scala.concurrent.duration.*

import picocli.CommandLine.{Command, Option as Opt, Parameters, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.Task
import weir.program.{BadInput, ErrorTerminal, Foreground}

/** `weir top`: shows the text of a console, again and again. */
@Command(
  name = "top",
  sortOptions = false,
  description = Array(
    "Show the fibers, streams and queues of a running program that has weir-console, as its page " +
      "/top, until Ctrl-C.",
    ""
  ),
  footer = Array("", "Exit code: 0; 2 if there is no such console; 130 after Ctrl-C.", "")
)
final class Top extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Parameters(
    paramLabel = "URL",
    arity = "0..1",
    description = Array("The address of the console. Default: $" + "{DEFAULT-VALUE}.")
  )
  private[command] var url: String = "http://localhost:8090"

  @Opt(names = Array("--once"), description = Array("Print it once, and end."))
  private[command] var isOnce: Boolean = false

  @Opt(
    names = Array("--token"),
    paramLabel = "TOKEN",
    description = Array(
      "The token of the console. The variable WEIR_CONSOLE_TOKEN does the same, and no other " +
        "user of the machine sees it."
    )
  )
  private[command] var token: String | Null = null

  def call(): Int =
    val out = spec.commandLine.getOut
    val client = HttpClient.newBuilder.connectTimeout(Top.limit).build()
    def text = Top.ask(client, url, Option(token).orElse(sys.env.get("WEIR_CONSOLE_TOKEN")))
    if isOnce then
      out.print(text)
      out.flush()
      0
    else
      val show = Task(Top.show(text, out)).andThen(Task.sleep(1.second)).forever
      Foreground.run(show) match
        case Foreground.Ended.Stopped(code, _) => code
        case Foreground.Ended.Done(_) => 0

private object Top:
  private val limit = Duration.ofSeconds(10)
  private val home = "\u001b[H\u001b[2J"

  private def ask(client: HttpClient, url: String, token: Option[String]): String =
    def bad(problem: String, hint: String) = throw BadInput(s"weir top: $url", problem, hint)
    try
      val request = HttpRequest.newBuilder(URI(s"${url.stripSuffix("/")}/top")).timeout(limit)
      token.foreach(text => request.header("Authorization", s"Bearer $text"))
      val reply = client.send(request.build(), HttpResponse.BodyHandlers.ofString())
      reply.statusCode match
        case 200 => reply.body
        case 401 => bad("it needs a token.", "Use --token.")
        case code => bad(s"it answered with $code.", "Check the address.")
    catch
      case error: (IllegalArgumentException | java.net.URISyntaxException) =>
        bad(s"this is no address (${error.getMessage}).", "Use http://HOST:PORT.")
      case error: IOException =>
        bad(s"no answer ($error).", "Start the program with -Dweir.console=8090.")

  /** Cuts lines that are wider than the terminal. */
  private def show(text: String, out: PrintWriter): Unit =
    val columns = ErrorTerminal.columns()
    out.print(home)
    text.linesIterator.foreach(line => out.println(line.take(columns)))
    out.flush()
