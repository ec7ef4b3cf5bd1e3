package weir.cli.purchases

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.concurrent.CompletableFuture
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.BadInput

/** The service as its clients see it. */
class PurchaseServiceSuite extends FunSuite:
  private val book = PurchaseBook(1)
  private val http = HttpClient.newHttpClient()

  private val service = FunFixture[PurchaseService](
    setup = _ => PurchaseService.start(book, 50.millis, 0),
    teardown = _.close()
  )

  private def ask(service: PurchaseService, path: String): HttpResponse[String] =
    http.send(request(service.url.resolve(path)), HttpResponse.BodyHandlers.ofString())

  private def request(uri: URI) = HttpRequest.newBuilder(uri).build()

  test("the book is the same for the same seed, and another for another"):
    assertEquals(PurchaseBook(1).cents(7), book.cents(7))
    assertNotEquals(PurchaseBook(2).total(20), book.total(20))
    assertEquals(book.total(3), (1 to 3).flatMap(book.cents).map(_.toLong).sum)

  service.test("an answer is what the book says, and comes after the delay"): service =>
    val start = System.nanoTime()
    val answer = ask(service, "/clients/7/purchases")
    assert((System.nanoTime() - start).nanos >= 50.millis)
    assertEquals(answer.statusCode, 200)
    val json = ujson.read(answer.body)
    assertEquals(json("client").num.toInt, 7)
    assertEquals(json("purchases").arr.map(_("cents").num.toInt).toVector, book.cents(7))

  service.test("a request may ask for another delay, and what is none is refused"): service =>
    val start = System.nanoTime()
    assertEquals(ask(service, "/clients/7/purchases?delayMillis=200").statusCode, 200)
    assert((System.nanoTime() - start).nanos >= 200.millis)
    for wrong <- List("-1", "soon", "60001") do
      assertEquals(ask(service, s"/clients/7/purchases?delayMillis=$wrong").statusCode, 400, wrong)

  service.test("what is no client is not found"): service =>
    for path <- List("/", "/clients", "/clients/x/purchases", "/clients/7") do
      assertEquals(ask(service, path).statusCode, 404, path)

  service.test("hundreds of requests wait side by side, on one HTTP/2 connection"): service =>
    assertEquals(ask(service, "/clients/1/purchases").version, HttpClient.Version.HTTP_2)
    val uri = service.url.resolve("/clients/1/purchases?delayMillis=500")
    val start = System.nanoTime()
    val all = Vector.fill(500):
      http.sendAsync(request(uri), HttpResponse.BodyHandlers.ofString())
    CompletableFuture.allOf(all*).join(): Unit
    assert(all.forall(_.join().statusCode == 200))
    // One after the other they would take 250 s; on a thread each, 500 threads.
    assert((System.nanoTime() - start).nanos < 10.seconds)

  service.test("a port that is in use is bad input"): service =>
    val error = intercept[BadInput]:
      PurchaseService.start(book, 1.milli, service.url.getPort).close()
    assertEquals(error.place, "--port")
