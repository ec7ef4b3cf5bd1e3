package crawler

import java.net.URI
import java.net.http.HttpClient
import scala.concurrent.duration.*
import weir.*

/** Crawls the addresses that it is given, or else two hosts that it starts itself. */
object Main extends WeirApp:
  private val limits =
    Crawl.Limits(pages = 32, perHost = 4, perSecond = 200, time = 1.second, retries = 3)

  private val client = Resource.fromAutoCloseable(Task(HttpClient.newHttpClient()))

  def run(args: List[String]): Task[ExitCode] = client.use { client =>
    Crawl(client, limits).flatMap { crawl =>
      if args.nonEmpty then crawl.from(args.map(URI.create)).flatMap(print).as(ExitCode.Success)
      else ownSites(crawl)
    }
  }

  private def ownSites(crawl: Crawl): Task[ExitCode] =
    Resource.both(TestSite(pages = 60), TestSite(pages = 60)).use { (one, other) =>
      for
        _ <- Task { one.neighbour = Some(other.address); other.neighbour = Some(one.address) }
        fetched <- crawl.from(List(one.address))
        _ <- print(fetched)
        most = Math.max(one.mostAtOnce, other.mostAtOnce)
        _ <- Task(println(s"at most $most requests at one host at a time"))
        // Of each host: the start, 60 pages and the busy one; the silent one; the missing one.
        expected = Map("pages" -> 124, "failed" -> 2, "status 404" -> 2)
        isRight = kinds(fetched) == expected && most <= limits.perHost
      yield if isRight then ExitCode.Success else ExitCode(1)
    }

  private def kinds(fetched: Map[URI, Fetched]): Map[String, Int] =
    fetched.values.toList.groupMapReduce {
      case Fetched.Page(_) => "pages"
      case Fetched.Refused(status) => s"status $status"
      case Fetched.Failed(_) => "failed"
    }(_ => 1)(_ + _)

  private def print(fetched: Map[URI, Fetched]): Task[Unit] = Task {
    for case (page, Fetched.Failed(error)) <- fetched do println(s"$page: $error")
    println(kinds(fetched).toList.sorted.map((kind, count) => s"$count $kind").mkString(", "))
  }
