package weir.feeds.fetch

import java.net.{Inet6Address, InetAddress, URI, UnknownHostException}

/** The target of one request of the client.
  *
  * The client refuses a host that is no name by RFC 952, such as `my_feeds.example`, though DNS has
  * it. For such a host, the request goes to its address, and the header `Host` names it.
  */
private[fetch] final case class Target(uri: URI, hostHeader: Option[String])

private[fetch] object Target:
  /** Returns the target for `uri`.
    *
    * **Fails** with [[Failure.Abandoned]] for such a host behind https, and with
    * UnknownHostException if `resolve` knows no address of it.
    */
  def of(uri: URI, resolve: String => Iterable[InetAddress]): Target =
    if uri.getHost != null then Target(uri, None)
    else if uri.getScheme == "https" then
      Failure.abandon(
        Reason.Insecure,
        s"the JDK's TLS takes no host name like ${uri.getAuthority}; the feed may have an http " +
          "address"
      )
    else
      val (name, port) = uri.getAuthority.span(_ != ':')
      val address = resolve(name).headOption.getOrElse(throw UnknownHostException(name)) match
        case ipv6: Inet6Address => s"[${ipv6.getHostAddress}]"
        case ipv4 => ipv4.getHostAddress
      val rest = uri.toString.drop(s"http://${uri.getAuthority}".length)
      Target(URI.create(s"http://$address$port$rest"), Some(uri.getAuthority))
