package weir.http.server

import java.net.URI
import org.eclipse.jetty.http.HttpURI

/** Makes the absolute addresses of requests. Those of a server mostly have one host, whose part is
  * parsed once.
  *
  *   - **Shared**: `latest`. A thread that misses the host of another one parses it again.
  */
private[server] final class RequestUris:
  import RequestUris.*

  @volatile private var latest: Host | Null = null

  /** Returns the address. **Fails** with an `IllegalArgumentException` if it is no URI. */
  def of(uri: HttpURI): URI =
    val target = uri.getPathQuery
    if target == "*" then URI.create(uri.asString.stripSuffix("*")) // RFC 9112, 3.3
    else if uri.getHost == null || uri.getFragment != null || !isPlain(target) then
      URI.create(uri.asString)
    else hostOf(uri).uri.resolve(URI.create(target))

  private def hostOf(of: HttpURI): Host =
    val known = latest
    if known != null && known.isThatOf(of) then known
    else
      val made = Host(of.getScheme, of.getHost, of.getPort, URI.create(of.asString))
      latest = made
      made

private object RequestUris:
  private final class Host(scheme: String, host: String, port: Int, val uri: URI):
    def isThatOf(other: HttpURI): Boolean =
      other.getHost == host && other.getPort == port && other.getScheme == scheme

  /** Returns true if `resolve` leaves `target` as it is, and parses no host in it. */
  private def isPlain(target: String | Null): Boolean =
    target != null && target.startsWith("/") && !target.contains("//") && !target.contains("/.")
