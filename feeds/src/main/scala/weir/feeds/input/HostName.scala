package weir.feeds.input

import java.net.{IDN, Inet4Address, Inet6Address}
import scala.util.Try

/** The host of an address in its one ASCII form: a name, or the literal of an IP address. */
private[input] object HostName:
  private val name = "[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.-])?".r
  private val endsInNumber = "(?:.*\\.)?(?:[0-9]+|0x[0-9a-f]*)\\.?".r

  /** Returns the ASCII form of `host`, or the error, in words that follow the address. A name may
    * have `_` in it, as browsers and DNS allow. A name in another script is encoded by IDNA 2003,
    * which is the JDK's version; later code points are kept. An IPv4 address in an old form
    * (`127.1`, `0x7f000001`) becomes four decimal numbers, so no rule can be evaded by it.
    */
  def ascii(host: String): Either[String, String] =
    if host.isEmpty then Left("has no host.")
    else if host.startsWith("[") then ipv6(host)
    else
      val decoded = PercentCode.decode(host)
      val encoded =
        if decoded.forall(_ < 128) then Some(decoded)
        else Try(IDN.toASCII(decoded, IDN.ALLOW_UNASSIGNED)).toOption
      encoded.map(_.toLowerCase) match
        case Some(number) if endsInNumber.matches(number) =>
          Try(Inet4Address.ofPosixLiteral(number.stripSuffix(".")).getHostAddress).toEither.left
            .map(_ => "has a host that is no IPv4 address.")
        case Some(ascii) if name.matches(ascii) && !ascii.contains("..") => Right(ascii)
        case _ => Left("has a host that is no name.")

  private def ipv6(host: String): Either[String, String] =
    val inner = host.stripPrefix("[").stripSuffix("]").toLowerCase
    val isValid = host.endsWith("]") && !inner.contains("%") && inner.contains(":") &&
      Try(Inet6Address.ofLiteral(inner)).isSuccess
    Either.cond(isValid, s"[$inner]", "has a host that is no IPv6 address.")
