package weir.feeds.fetch

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, Proxy, ProxySelector, SocketAddress, URI}
import java.util.Locale
import scala.util.Try

import weir.feeds.input.Login
import weir.program.BadInput

/** The HTTP proxies that the environment names, by the rules of curl.
  *
  * @param byScheme
  *   the proxy for http, and for https
  * @param without
  *   the hosts that are asked directly
  */
final class Proxies private (byScheme: Map[String, Proxies.Server], without: NoProxy)
    extends ProxySelector:
  /** Returns the proxy that a request of `uri` goes through, if any. */
  def of(uri: URI): Option[Proxies.Server] =
    byScheme.get(uri.getScheme).filterNot(_ => without.has(Proxies.hostOf(uri)))

  def select(uri: URI): java.util.List[Proxy] =
    java.util.List.of(of(uri).fold(Proxy.NO_PROXY)(_.proxy))

  def connectFailed(uri: URI, at: SocketAddress, error: IOException): Unit = ()

object Proxies:
  val none: Proxies = of(Map.empty)

  /** A proxy, with the value of `Proxy-Authorization` for it. */
  final case class Server(host: String, port: Int, login: Option[Login]):
    private[fetch] def proxy: Proxy =
      Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(host, port))

  /** Returns the proxies that `environment` names: `http_proxy`, `https_proxy`, `all_proxy` and
    * `no_proxy`, in lower case or in upper case. `HTTP_PROXY` is ignored in a CGI script, where a
    * client sets it by a header `Proxy`.
    *
    * **Fails** with [[BadInput]] for a proxy that is not an HTTP proxy.
    */
  def of(environment: Map[String, String]): Proxies =
    def variable(name: String): Option[(String, String)] =
      val upper = name.toUpperCase(Locale.ROOT)
      val isForged = upper == "HTTP_PROXY" && environment.contains("REQUEST_METHOD")
      (name +: Option.when(!isForged)(upper).toVector)
        .flatMap(key => environment.get(key).map(value => key -> value.trim))
        .headOption
    val servers =
      for
        scheme <- Vector("http", "https")
        (name, value) <- variable(s"${scheme}_proxy").orElse(variable("all_proxy"))
        if value.nonEmpty
      yield scheme -> server(name, value)
    Proxies(servers.toMap, NoProxy.of(variable("no_proxy").fold("")(_._2)))

  /** The port that curl uses for a proxy whose address has none. */
  private val usualPort = 1080

  private val form = "(?i)(?:([a-z0-9+.-]+)://)?(\\[[^\\]/]*\\]|[^:/?#]+)(?::([0-9]{1,5}))?/?".r

  private def server(name: String, value: String): Server =
    def refuse(problem: String) = throw BadInput(
      name,
      s"it names no HTTP proxy ($problem).",
      "Set it to an address like http://proxy.example:3128, or unset it."
    )
    val (login, address) = Login.split(if value.contains("://") then value else s"http://$value")
    address match
      case form(scheme, _, _) if scheme != null && scheme.toLowerCase != "http" =>
        refuse(s"weir does not speak ${scheme.toLowerCase} to a proxy")
      case form(_, host, port) =>
        val number = Option(port).fold(usualPort)(_.toInt)
        if number < 1 || number > 65535 then refuse("its port is outside 1 to 65535")
        Server(host.stripPrefix("[").stripSuffix("]"), number, login)
      case _ => refuse("it is not an address")

  private def hostOf(uri: URI): String =
    val host = Option(uri.getHost).getOrElse(uri.getAuthority.replaceFirst(":[0-9]+$", ""))
    host.stripPrefix("[").stripSuffix("]").stripSuffix(".").toLowerCase(Locale.ROOT)

/** The hosts that `no_proxy` names. */
final class NoProxy private (names: Vector[String]):
  /** Returns true if `host`, a name or the literal of an address, is named, or a domain that it is
    * in, or a range of addresses.
    */
  def has(host: String): Boolean =
    names.exists: name =>
      name == "*" || host == name || host.endsWith(s".$name") || NoProxy.isInRange(host, name)

object NoProxy:
  def of(text: String): NoProxy =
    NoProxy(
      text
        .split("[,\\s]+")
        .toVector
        .map(_.toLowerCase(Locale.ROOT).stripPrefix(".").stripSuffix("."))
        .map(_.stripPrefix("[").stripSuffix("]"))
        .filter(_.nonEmpty)
    )

  /** Returns true if `range` is like `10.0.0.0/8` and `host` an address in it. */
  private def isInRange(host: String, range: String): Boolean =
    val inside =
      for
        (base, bits) <- range.split('/') match
          case Array(base, bits) => bits.toIntOption.map(base -> _)
          case _ => None
        network <- bytes(base)
        address <- bytes(host)
        if network.length == address.length && bits >= 0 && bits <= 8 * network.length
      yield (BigInt(1, network) ^ BigInt(1, address)) >> (8 * network.length - bits) == 0
    inside.getOrElse(false)

  private def bytes(address: String): Option[Array[Byte]] =
    Try(InetAddress.ofLiteral(address).getAddress).toOption
