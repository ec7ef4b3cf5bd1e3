package weir.feeds.fetch

import java.io.IOException
import java.net.{ConnectException, NoRouteToHostException, ProtocolException, UnknownHostException}
import java.net.http.{HttpConnectTimeoutException, HttpTimeoutException}
import java.nio.channels.UnresolvedAddressException
import java.util.concurrent.TimeoutException
import java.util.zip.ZipException
import javax.net.ssl.SSLException
import scala.util.matching.Regex

/** Translates an exception of the JDK's client into a failure in words of HTTP. */
private[fetch] object FailureWords:
  /** Returns the failure for a chain of causes, outermost first. The innermost cause with a known
    * meaning decides.
    */
  def of(chain: Vector[Throwable]): Failure =
    val all = chain.map(messageOf).mkString("; ")
    val (reason, detail) = chain.reverseIterator
      .flatMap(error => meaning(error, messageOf(error), all))
      .nextOption()
      .getOrElse((Reason.Reset, s"the exchange broke off${said(messageOf(chain.last))}"))
    Failure(reason, detail)

  private def meaning(error: Throwable, message: String, all: String): Option[(Reason, String)] =
    error match
      case _: HttpConnectTimeoutException =>
        Some(Reason.ConnectTimedOut -> noAnswer)
      case _: ConnectException if message.contains("timed out") =>
        Some(Reason.ConnectTimedOut -> noAnswer)
      case _: HttpTimeoutException | _: TimeoutException =>
        Some(Reason.TimedOut -> "the answer was not complete in time")
      case _: UnresolvedAddressException =>
        Some(Reason.UnknownHost -> "no address of the host can be found")
      case _: UnknownHostException =>
        Some(Reason.UnknownHost -> s"no address of ${message.takeWhile(_ != ':')} can be found")
      case _: ConnectException | _: NoRouteToHostException =>
        Some(Reason.NoConnection -> noConnection(message))
      case _: SSLException => Some(tls(message, all))
      case _: ZipException =>
        Some(Reason.BrokenPacking -> s"the body is not whole${said(message)}")
      case _: NumberFormatException if huge.matches(message) =>
        Some(Reason.TooLarge -> "it announces more bytes than can be counted")
      case _: NumberFormatException =>
        Some(Reason.NotHttp -> s"a number in the head of the answer is invalid${said(message)}")
      case _: IllegalArgumentException =>
        Some(Reason.BadRedirect -> s"the address cannot be asked for${said(message)}")
      case _: ProtocolException => Some(Reason.NotHttp -> notHttp(message))
      case _: IOException => brokenOff(message)
      case _ => None

  private val noAnswer = "the server did not take the connection in time"

  private def noConnection(message: String): String =
    message.toLowerCase match
      case text if text.contains("no route") => "there is no route to the host"
      case text if text.contains("unreachable") => "the network of the host cannot be reached"
      case text if text.contains("permission") || text.contains("not permitted") =>
        "the system does not permit the connection"
      // The JDK's client gives no message, and `ClosedChannelException` as the cause.
      case _ => "connection refused"

  private val alert = "(?s).*fatal alert: *([a-zA-Z_]+).*".r

  private def tls(message: String, all: String): (Reason, String) =
    val why = all match
      case alert(name) => s"the server refused TLS: ${name.replace('_', ' ')}"
      case text if text.contains("NotAfter") => "the certificate has expired"
      case text if text.contains("NotBefore") => "the certificate is not valid yet"
      case text if text.contains("No subject alternative") || text.contains("No name match") =>
        "the certificate is for another host"
      case text if text.contains("PKIX") || text.contains("certification path") =>
        "the certificate is not of an authority that this machine trusts"
      case text if text.contains("terminated the handshake") =>
        "the server closed the connection while TLS began"
      case text if text.contains("nrecognized SSL message") =>
        "the server speaks no TLS at this port"
      case text if text.contains("close_notify") || text.contains("closing inbound") =>
        "the server closed the connection without the end of TLS"
      case _ => s"TLS failed${said(message)}"
    (Reason.Insecure, why)

  private val huge = "(?s)For input string: \"[0-9]{19,}\".*".r

  private val statusLine = "(?s)Invalid status line: *\"?(.*?)\"?".r

  private def notHttp(message: String): String =
    message match
      case statusLine(line) => s"the answer is no HTTP: it begins with '${shown(line)}'"
      case text if text.toLowerCase.contains("header size") =>
        "the head of the answer is too large"
      case text => s"the answer is no HTTP${said(text)}"

  private val tooShort = "(?s).*fixed content-length: (-?[0-9]+), bytes received: ([0-9]+).*".r
  private val tunnel = "(?s)Tunnel failed, got: ([0-9]+).*".r
  private val stream = "(?s).*(?:RST_STREAM|GOAWAY|stream \\d+).*".r

  /** None if `message` says no more than the message of the exception around it. */
  private def brokenOff(message: String): Option[(Reason, String)] =
    def reset(words: String) = Some(Reason.Reset -> words)
    message match
      case tooShort(announced, _) if announced.startsWith("-") =>
        Some(Reason.NotHttp -> s"its Content-Length is $announced")
      case tooShort(announced, received) =>
        reset(s"the connection ended after $received of $announced bytes")
      case tunnel(status) =>
        Some(Reason.NoConnection -> noTunnel(status))
      case text if text.contains("header parser received no bytes") =>
        reset("the server closed the connection without an answer")
      case text if text.startsWith("parsing HTTP/1.1") =>
        reset("the connection ended in the head of the answer")
      case text if text.contains("chunked transfer encoding") =>
        reset("the connection ended in the middle of the body")
      case text if text.startsWith("Connection reset") || text.startsWith("Broken pipe") =>
        reset("the server reset the connection")
      case stream() => reset(s"the server broke off the exchange of HTTP/2${said(message)}")
      case text if text.startsWith("Invalid") || text.startsWith("Illegal") =>
        Some(Reason.NotHttp -> s"the answer is no HTTP${said(text)}")
      case _ => None

  def noTunnel(status: String): String = s"the proxy made no connection: it answered $status"

  private def messageOf(error: Throwable): String = Option(error.getMessage).getOrElse("")

  /** Returns the message as an addition, unless it is Java's. */
  private def said(message: String): String =
    val text = shown(message)
    if text.isEmpty || java.findFirstIn(text).nonEmpty then "" else s" ($text)"

  private val java: Regex = "[a-z]\\.[a-z]+\\.[A-Za-z]|Exception|null|@[0-9a-f]{4}".r

  private val longest = 100

  private def shown(text: String): String =
    val line = text.map(char => if char < ' ' || char == 0x7f then ' ' else char).trim
    if line.length <= longest then line else line.take(longest - 1) + "…"
