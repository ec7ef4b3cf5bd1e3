package weir.http

import java.net.{InetSocketAddress, URI, URLDecoder}
import java.nio.charset.StandardCharsets.UTF_8

/** A request, to a server or by a client.
  *
  * @param method
  *   such as `GET`, in capitals
  * @param uri
  *   at a server it is absolute: its host comes from the field `Host`, which the client chooses
  * @param remote
  *   at a server, the other end of the connection: the client, or a proxy
  */
final case class Request(
    method: String,
    uri: URI,
    headers: Headers = Headers.empty,
    body: Body = Body.empty,
    remote: Option[InetSocketAddress] = None
):

  /** Returns the path, as it was sent: `/a%20b`. */
  def path: String = uri.getRawPath

  /** Returns the decoded parts of the path, between its slashes: `List("users", "7")`. A slash at
    * the end gives an empty part. A part may contain a slash, which was sent as `%2F`: check a part
    * before you pass it to `Path.resolve`. A server refuses paths in which a part is `.` or `..`,
    * or contains one of these between slashes.
    */
  def segments: List[String] = path match
    case "" | "/" => Nil
    case path =>
      path.stripPrefix("/").split("/", -1).toList.map(s => Request.decoded(s.replace("+", "%2B")))

  /** Returns the decoded names and values of the query. */
  def query: Vector[(String, String)] = uri.getRawQuery match
    case null | "" => Vector.empty
    case query =>
      query.split('&').toVector.filter(_.nonEmpty).map {
        case s"$name=$value" => Request.decoded(name) -> Request.decoded(value)
        case name => Request.decoded(name) -> ""
      }

  /** Returns the first value of `name` in the query. */
  def parameter(name: String): Option[String] = query.collectFirst { case (`name`, value) => value }

object Request:
  /** Returns a `GET` of `uri`. **Fails** with an `IllegalArgumentException` if it is no URI. */
  def get(uri: String): Request = Request("GET", URI.create(uri))

  /** Returns a `POST` of `body` to `uri`. **Fails** as `get`. */
  def post(uri: String, body: Body): Request = Request("POST", URI.create(uri), body = body)

  private def decoded(text: String): String = URLDecoder.decode(text, UTF_8)
