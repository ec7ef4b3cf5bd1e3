package weir.feeds.fetch

import java.net.{Inet4Address, InetAddress}

/** Distinguishes addresses of the user's own machines and networks from public ones. */
private[fetch] object PrivateAddress:
  /** Returns the name of the range of `address`, if it is not public. An IPv4 address within an
    * IPv6 address counts as itself.
    */
  def rangeOf(address: InetAddress): Option[String] =
    address match
      case ipv4: Inet4Address => rangeOfIpv4(ipv4)
      case ipv6 =>
        val bytes = ipv6.getAddress
        if ipv6.isLoopbackAddress then Some("loopback")
        else if ipv6.isAnyLocalAddress then Some("this machine")
        else if ipv6.isLinkLocalAddress then Some("link-local")
        else if ipv6.isSiteLocalAddress || (bytes(0) & 0xfe) == 0xfc then Some("private network")
        else if ipv6.isMulticastAddress then Some("multicast")
        else embedded(bytes).flatMap(rangeOfIpv4)

  private def rangeOfIpv4(address: Inet4Address): Option[String] =
    val bytes = address.getAddress.map(_ & 0xff)
    if address.isLoopbackAddress then Some("loopback")
    else if bytes(0) == 0 then Some("this machine")
    else if address.isLinkLocalAddress then Some("link-local") // the metadata of clouds is there
    else if address.isSiteLocalAddress then Some("private network")
    else if bytes(0) == 100 && (bytes(1) & 0xc0) == 64 then Some("carrier-grade NAT")
    else if bytes(0) == 192 && bytes(1) == 0 && bytes(2) == 0 then Some("special use")
    else if bytes(0) == 198 && (bytes(1) & 0xfe) == 18 then Some("special use")
    else if address.isMulticastAddress then Some("multicast")
    else Option.when(bytes(0) >= 240)("special use")

  /** The IPv4 address that gateways take out of `::a.b.c.d`, `64:ff9b::a.b.c.d` and `2002:ab:cd::`.
    */
  private def embedded(bytes: Array[Byte]): Option[Inet4Address] =
    def begins(head: Int*) = head.indices.forall(i => (bytes(i) & 0xff) == head(i))
    val isLast = begins(Seq.fill(12)(0)*) || begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)
    val within =
      if isLast then Some(bytes.drop(12))
      else Option.when(begins(0x20, 0x02))(bytes.slice(2, 6))
    within.map(InetAddress.getByAddress(_)).collect { case ipv4: Inet4Address => ipv4 }
