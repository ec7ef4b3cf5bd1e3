package weir.console

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import scala.concurrent.duration.*
import weir.*

/** The pages stay usable with 100,000 fibers, of which the long tier makes as many. */
class ManyFibersSuite extends WeirSuite:
  private val fiberCount = if Tier.isLong then 100_000 else 10_000

  /** Each page is to take less than a second, on a machine that does nothing else. */
  private val pageLimit = 10.seconds

  override def limit: FiniteDuration = 60.seconds

  test(s"each page of $fiberCount fibers is small, and is there soon"):
    val end = Deferred.unsafe[Unit]
    val some = Task.traverse(1 to fiberCount / 2)(_ => end.get.map(_ => 1).start).runSync()
    val others = Task.traverse(1 to fiberCount / 2)(_ => end.get.map(_ => 2).start).runSync()
    val waiting = () =>
      WeirRuntime.default.metrics.head.points
        .filter(_.attributes.exists(_._2 == "waiting"))
        .map(_.value)
        .sum
    eventually("all wait")(waiting() >= fiberCount)
    Console
      .serve(0)
      .use(console =>
        Task {
          val pages = List("/api/fibers?sort=age&search=", "/api/fibers?search=ManyFibers") ++
            List("/api/now", "/metrics", "/top", "/api/runtime", "/")
          pages.foreach(path => check(console, path))
          val found = check(console, "/api/fibers?search=ManyFibersSuite.scala")
          val number = found.replaceFirst(".*\"found\":([0-9]+),.*", "$1").toInt
          assert(number >= fiberCount, found)
          assert(found.contains(s"\"count\":${fiberCount / 2},"), found)
        }
      )
      .runSync()
    end.complete(()).runSync(): Unit
    Task.foreach(some ++ others)(_.join).runSync()

  private val client = HttpClient.newHttpClient()

  private def check(console: Console, path: String): String =
    val request = HttpRequest.newBuilder(URI(s"http://localhost:${console.port}$path")).build()
    val begun = System.nanoTime()
    val reply = client.send(request, HttpResponse.BodyHandlers.ofString())
    val took = (System.nanoTime() - begun).nanos
    assertEquals(reply.statusCode, 200)
    assert(took < pageLimit, s"$path took $took")
    assert(reply.body.length < 100_000, s"$path has ${reply.body.length} characters")
    if System.getProperty("weir.console.times") == "true" then
      println(s"$path: ${took.toMillis} ms")
    reply.body
