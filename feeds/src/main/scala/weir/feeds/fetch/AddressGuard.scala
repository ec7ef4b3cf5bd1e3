package weir.feeds.fetch

import weir.feeds.input.FeedUrl

/** Keeps a public server from sending the program to machines that only its user can reach.
  *
  * An address that the user gave may be private, and so may those that it leads to from a private
  * network. All others must be public each time when they are fetched. The rule is about the
  * addresses that the connection uses: those that `names` holds.
  *
  * A name that cannot be resolved is left to the client, which does not find it either, unless a
  * proxy does.
  */
private[fetch] final class AddressGuard(
    isOpen: Boolean,
    val names: HostAddresses.Holds
):
  import AddressGuard.Hop

  /** Returns the address at which a fetch begins.
    *
    * **Fails** with [[Failure.Abandoned]] if it is private, and the user did not give it.
    */
  def first(url: FeedUrl, isGiven: Boolean): Hop =
    if isOpen || isGiven then Hop(url, mayBePrivate = true)
    else
      placeIn(url).foreach(refuse(url, _))
      Hop(url, mayBePrivate = false)

  /** Returns the address that the server of `from` names.
    *
    * **Fails** with [[Failure.Abandoned]] if it is private at one of its addresses, and `from` is
    * not private at all of its own.
    */
  def next(from: Hop, to: FeedUrl): Hop =
    if isOpen || (from.mayBePrivate && from.url.host == to.host) then Hop(to, mayBePrivate = true)
    else
      val place = placeIn(to)
      if !(from.mayBePrivate && isPrivate(from.url)) then place.foreach(refuse(to, _))
      Hop(to, mayBePrivate = place.nonEmpty && isPrivate(to))

  private def refuse(url: FeedUrl, place: String): Nothing =
    Failure.abandon(
      Reason.PrivateAddress,
      s"${url.text} is at $place, and you did not give this address; add it yourself, or let " +
        "every server name private addresses with --allow-private"
    )

  private def placeIn(url: FeedUrl): Option[String] =
    placesOf(url).collectFirst { case Some(range) => range }

  private def isPrivate(url: FeedUrl): Boolean =
    val places = placesOf(url)
    places.nonEmpty && places.forall(_.nonEmpty)

  /** For each address of the host, where it is if it is private. */
  private def placesOf(url: FeedUrl): Vector[Option[String]] =
    val name = url.hostName.stripSuffix(".")
    // RFC 6761 reserves these names for the machine itself, even if DNS says otherwise.
    if name == "localhost" || name.endsWith(".localhost") then Vector(Some("this machine"))
    else
      names
        .addresses(url.hostName)
        .map: address =>
          PrivateAddress.rangeOf(address).map(range => s"${address.getHostAddress} ($range)")

private[fetch] object AddressGuard:
  /** An address on the way of a fetch.
    *
    * @param mayBePrivate
    *   true if the user gave it, or it was reached within the user's own networks
    */
  final case class Hop(url: FeedUrl, mayBePrivate: Boolean)
