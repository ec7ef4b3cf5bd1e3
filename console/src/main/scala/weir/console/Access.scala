package weir.console

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.Locale

/** A request, as far as the console needs it.
  *
  * @param read returns the first header of that name, or null
  */
private[console] final class Request(
    val method: String,
    val path: String,
    val query: Map[String, String],
    read: String => String | Null
):
  def header(name: String): Option[String] = Option(read(name))

  def apply(name: String): String = query.getOrElse(name, "")

/** An answer to a request. */
private[console] final case class Reply(
    status: Int,
    contentType: String,
    body: Array[Byte],
    headers: Vector[(String, String)] = Vector.empty
)

private[console] object Reply:
  def text(status: Int, text: String, headers: (String, String)*): Reply =
    Reply(status, "text/plain; charset=utf-8", s"$text\n".getBytes(UTF_8), headers.toVector)

  def json(json: Json): Reply = Reply(200, "application/json", json.text.getBytes(UTF_8))

/** Decides which requests are served.
  *
  *   - Without a token, a request must name this machine as its host. A page of another site whose
  *     name was made to point here (DNS rebinding) names its own host.
  *   - With a token, a request must have it.
  *   - A request that a page of another origin has sent is refused in both cases.
  */
private[console] final class Access(token: Option[String], cookie: => String):
  import Access.*

  /** Returns the answer to a request that is refused, or `None` if it is served. */
  def refusal(request: Request): Option[Reply] =
    val host = request.header("Host").getOrElse("")
    val origin = request.header("Origin")
    if origin.exists(_.replaceFirst("^https?://", "") != host) then
      Some(Reply.text(403, "The request came from a page of another origin."))
    else
      token match
        case None if local(hostName(host)) => None
        case None =>
          Some(
            Reply.text(
              403,
              s"The request was for the host ${printable(host)}. A console without a token " +
                "answers only requests for localhost. Use a token to reach it from elsewhere."
            )
          )
        case Some(secret) if tokensOf(request).exists(same(_, secret)) => None
        case Some(_) =>
          Some(
            Reply.text(
              401,
              "This console needs its token. Open /?token=TOKEN, or send the header " +
                "\"Authorization: Bearer TOKEN\".",
              "WWW-Authenticate" -> "Bearer"
            )
          )

  /** Returns the answer to a request with the token in its address: the page, with a cookie that
    * later requests send. So the address that the browser shows has no token.
    */
  def login(request: Request): Option[Reply] =
    token.filter(_ => request.path == "/" && request.query.contains("token")).map { secret =>
      val flags = "Path=/; HttpOnly; SameSite=Strict"
      Reply.text(303, "", "Location" -> "/", "Set-Cookie" -> s"$cookie=$secret; $flags")
    }

  private def tokensOf(request: Request): List[String] =
    val bearer = request.header("Authorization").collect { case s"Bearer $text" => text }
    val cookies = request.header("Cookie").toList.flatMap(_.split("; *")).collect {
      case s"$name=$text" if name == cookie => text
    }
    val inAddress = if request.path == "/" then request.query.get("token") else None
    bearer.toList ++ cookies ++ inAddress

private[console] object Access:
  private val local = Set("localhost", "127.0.0.1", "[::1]")

  private def hostName(host: String): String =
    host.replaceFirst(":[0-9]*$", "").toLowerCase(Locale.ROOT)

  private def printable(text: String): String =
    text.take(100).map(char => if char > ' ' && char < 127 then char else '?')

  /** Takes the same time wherever the texts differ. */
  private def same(one: String, other: String): Boolean =
    MessageDigest.isEqual(one.getBytes(UTF_8), other.getBytes(UTF_8))
