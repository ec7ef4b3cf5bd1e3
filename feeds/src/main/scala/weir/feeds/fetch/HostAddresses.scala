package weir.feeds.fetch

import java.net.{InetAddress, UnknownHostException}
import scala.collection.mutable
import scala.util.Try

/** The addresses of host names, the same for the check of an address and for the connection to it.
  *
  * A fetch holds the name of each host that it asks. As long as a name is held, and for a while
  * after, the JDK's client is given the addresses that are here (see [[PinnedNames]]). So the name
  * is not looked up again if its address changes between the check and the connection.
  *
  * @param resolve
  *   the addresses of a name, as DNS has them now
  */
private[fetch] final class HostAddresses(resolve: String => Array[InetAddress])
    extends AutoCloseable:
  import HostAddresses.*

  // guarded by this
  private val entries = mutable.HashMap.empty[String, Resolved]
  PinnedNames.add(this)

  /** The names that one fetch holds, until it is closed. */
  def holds(): Holds = Holds(this)

  /** Returns the addresses to which the client must connect for `name`, if a fetch holds it, or
    * held it until a while ago: a client whose fetch was cancelled may be late.
    */
  private[fetch] def pinned(name: String): Option[Vector[InetAddress]] = synchronized:
    entries.get(name).filter(_.age < lateNanos).map(_.addresses)

  def close(): Unit = PinnedNames.remove(this)

  private def hold(name: String): Vector[InetAddress] =
    val known = synchronized(holdKnown(name))
    known.getOrElse:
      val found = addressesOf(name)
      synchronized:
        holdKnown(name).getOrElse:
          entries(name) = Resolved(found, System.nanoTime(), holders = 1, releasedNanos = 0)
          found

  private def holdKnown(name: String): Option[Vector[InetAddress]] =
    entries
      .get(name)
      .filter(_.isUsable)
      .map: entry =>
        entries(name) = entry.copy(holders = entry.holders + 1)
        entry.addresses

  private def release(name: String): Unit = synchronized:
    entries
      .get(name)
      .foreach: entry =>
        entries(name) = entry.copy(holders = entry.holders - 1, releasedNanos = System.nanoTime())

  /** None for a name that DNS does not know: the client does not find it either. */
  private def addressesOf(name: String): Vector[InetAddress] =
    try resolve(name).toVector
    catch case _: UnknownHostException => Vector.empty

private[fetch] object HostAddresses:
  /** The time for which a result is reused, as in the JDK. */
  private val reuseNanos = 30_000_000_000L

  /** Far longer than a client takes to begin a connection. */
  private val lateNanos = 300_000_000_000L

  private final case class Resolved(
      addresses: Vector[InetAddress],
      resolvedNanos: Long,
      holders: Int,
      releasedNanos: Long
  ):
    def isUsable: Boolean =
      holders > 0 || (addresses.nonEmpty && System.nanoTime() - resolvedNanos < reuseNanos)

    def age: Long = if holders > 0 then 0 else System.nanoTime() - releasedNanos

  final class Holds(hosts: HostAddresses) extends AutoCloseable:
    private val held = mutable.HashMap.empty[String, Vector[InetAddress]]

    /** Returns the addresses of `name`, which is a name, or the literal of an address; none if DNS
      * does not know it.
      */
    def addresses(name: String): Vector[InetAddress] =
      literal(name) match
        case Some(address) => Vector(address)
        case None => held.getOrElseUpdate(name, hosts.hold(name))

    def close(): Unit =
      held.keys.foreach(hosts.release)
      held.clear()

  private def literal(name: String): Option[InetAddress] =
    Try(InetAddress.ofLiteral(name.stripPrefix("[").stripSuffix("]"))).toOption
