package weir.bench.child.clients

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.concurrent.{CompletionStage, Executors}

/** Asks the purchase service for the purchases of one client. Every way uses the same one.
  *
  * Over HTTP/2, all requests share one connection. 10,000 at once over HTTP/1.1 would be 10,000
  * connections, whose buffers alone do not fit into the 256 MB that the ways get.
  *
  * @param delayMillis
  *   the time that the service takes to answer; none means the time with which it was started
  */
final class PurchaseClient private (
    http: HttpClient,
    service: URI,
    delayMillis: Option[Long]
) extends AutoCloseable:

  /** Returns the sum of the purchases of client `id`, in cents. **Waits** for the service. */
  def cents(id: Int): Long =
    PurchaseClient.total(http.send(request(id), HttpResponse.BodyHandlers.ofString()))

  /** As [[cents]], without waiting. Cancelling the stage's future cancels the request. */
  def centsLater(id: Int): CompletionStage[Long] =
    http
      .sendAsync(request(id), HttpResponse.BodyHandlers.ofString())
      .thenApply(PurchaseClient.total)

  /** The same client, of a service that takes as long as this. */
  def withDelay(millis: Long): PurchaseClient = new PurchaseClient(http, service, Some(millis))

  def close(): Unit = http.shutdownNow()

  private def request(id: Int): HttpRequest =
    val query = delayMillis.fold("")(millis => s"?delayMillis=$millis")
    HttpRequest.newBuilder(service.resolve(s"/clients/$id/purchases$query")).build()

object PurchaseClient:
  /** A client that has its connection: a service says in its first answer how many may ask at once.
    */
  def connect(service: URI): PurchaseClient =
    val http = HttpClient
      .newBuilder()
      .version(HttpClient.Version.HTTP_2)
      .executor(Executors.newVirtualThreadPerTaskExecutor())
      .build()
    val client = new PurchaseClient(http, service, None)
    client.withDelay(0).cents(1): Unit
    client

  private def total(response: HttpResponse[String]): Long =
    if response.statusCode != 200 then
      throw IllegalStateException(s"${response.uri} answered ${response.statusCode}, not 200")
    ujson.read(response.body)("purchases").arr.map(_("cents").num.toLong).sum
