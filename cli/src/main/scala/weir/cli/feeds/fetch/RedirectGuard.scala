package weir.cli.feeds.fetch

import java.net.{InetAddress, UnknownHostException}

import weir.cli.feeds.input.FeedUrl

/** Keeps a public server from sending the program to machines that only its user can reach.
  *
  * An address that the user gave may be private, and so may those that it redirects to. A name is
  * resolved as the client does it a moment later, within the time for which the JDK keeps the
  * result; so a name that changes between the two is not asked for again. A name that cannot be
  * resolved is left to the client.
  *
  * @param resolve
  *   the addresses of a name
  */
private[fetch] final class RedirectGuard(isOpen: Boolean, resolve: String => Array[InetAddress]):
  /** Why the server of `from` may not send the program to `to`: that is private at one of its
    * addresses, and `from` is not private at all of its own.
    */
  def refusal(from: FeedUrl, to: FeedUrl): Option[Failure] =
    if isOpen || from.host == to.host then None
    else
      placesOf(to)
        .collectFirst { case Some(range) => range }
        .filterNot(_ => isPrivate(placesOf(from)))
        .map: range =>
          Failure(
            Reason.PrivateRedirect,
            s"${to.text} is at $range; only --allow-private lets a public address redirect there"
          )

  private def isPrivate(places: Vector[Option[String]]): Boolean =
    places.nonEmpty && places.forall(_.nonEmpty)

  /** For each address of the host, where it is if it is private. */
  private def placesOf(url: FeedUrl): Vector[Option[String]] =
    val name = url.hostName.stripSuffix(".")
    // RFC 6761 keeps these names for the machine itself, whatever DNS says.
    if name == "localhost" || name.endsWith(".localhost") then Vector(Some("this machine"))
    else
      try
        resolve(name).toVector.map: address =>
          PrivateAddress.rangeOf(address).map(range => s"${address.getHostAddress} ($range)")
      catch case _: UnknownHostException => Vector.empty
