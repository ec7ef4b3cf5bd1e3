package weir.feeds.fetch

import java.net.{InetAddress, UnknownHostException}
import java.net.spi.{InetAddressResolver, InetAddressResolverProvider}
import java.net.spi.InetAddressResolver.LookupPolicy
import java.security.Security
import java.util.concurrent.CopyOnWriteArrayList
import java.util.stream.Stream as JavaStream
import scala.jdk.CollectionConverters.*

/** Resolves names for the JDK. A name that a fetch holds resolves to the addresses that the fetch
  * has checked. All other names resolve as usual.
  *
  * The JDK's `HttpClient` takes no addresses but those of the JDK's own resolver, which is this
  * class, by the file in `META-INF/services`. The JDK's cache is switched off: its addresses may
  * differ from the checked ones.
  */
final class PinnedNames extends InetAddressResolverProvider:
  def name(): String = "weir feeds"

  def get(configuration: InetAddressResolverProvider.Configuration): InetAddressResolver =
    Security.setProperty("networkaddress.cache.ttl", "0")
    Security.setProperty("networkaddress.cache.negative.ttl", "0")
    PinnedNames.system = Some(configuration.builtinResolver)
    PinnedNames.Resolver(configuration.builtinResolver)

private[fetch] object PinnedNames:
  @volatile private var system: Option[InetAddressResolver] = None
  private val all = CopyOnWriteArrayList[HostAddresses]()

  def add(hosts: HostAddresses): Unit =
    val _ = all.add(hosts)

  def remove(hosts: HostAddresses): Unit =
    val _ = all.remove(hosts)

  /** Returns the addresses of `name` as the system knows them now, even if a fetch holds others.
    *
    * **Fails** with `UnknownHostException` if there is none.
    */
  def resolve(name: String): Array[InetAddress] =
    // The JDK loads the class above at its first look-up.
    if system.isEmpty then InetAddress.getByName("localhost"): Unit
    val resolver = system.getOrElse:
      throw IllegalStateException(
        "weir feeds: another InetAddressResolverProvider is in use. Addresses cannot be checked " +
          "with it. Remove it from the class path."
      )
    val found = resolver.lookupByName(name, policy)
    try found.iterator.asScala.toArray
    finally found.close()

  private final class Resolver(system: InetAddressResolver) extends InetAddressResolver:
    def lookupByName(host: String, policy: LookupPolicy): JavaStream[InetAddress] =
      all.iterator.asScala.flatMap(_.pinned(host)).nextOption() match
        case Some(none) if none.isEmpty => throw UnknownHostException(host)
        case Some(addresses) => JavaStream.of(addresses*)
        case None => system.lookupByName(host, policy)

    def lookupByAddress(address: Array[Byte]): String = system.lookupByAddress(address)

  /** As the JDK chooses by its own properties. */
  private lazy val policy: LookupPolicy =
    import LookupPolicy.*
    if java.lang.Boolean.getBoolean("java.net.preferIPv4Stack") then LookupPolicy.of(IPV4)
    else
      System.getProperty("java.net.preferIPv6Addresses", "false") match
        case "true" => LookupPolicy.of(IPV4 | IPV6 | IPV6_FIRST)
        case "system" => LookupPolicy.of(IPV4 | IPV6)
        case _ => LookupPolicy.of(IPV4 | IPV6 | IPV4_FIRST)
