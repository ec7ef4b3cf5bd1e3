package weir.http

import java.util.concurrent.{CountDownLatch, Semaphore, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*
import weir.http.server.{HandlerTimes, JettyServer}
import weir.{Task, WeirRuntime}

/** The threads on which handlers begin. */
class HttpServerThreadsSuite extends HttpSuite:
  private val thread = Task.delay(Response.text(Thread.currentThread.getName))

  /** Sends requests that are answered at once, until they are answered by the thread that reads. */
  private def untilInPlace(connection: RawConnection): Unit =
    eventually("handlers begin on the thread that reads") {
      (1 to 100).exists(_ => connection.get("/thread").body.startsWith("weir-http"))
    }

  test("handlers begin on workers at first, and in place once they have been short"):
    exchanging(_ => thread) { connection =>
      assertEquals(connection.get("/").body, "weir-worker")
      untilInPlace(connection)
    }

  /** Tasks begin on the thread that reads: always, or until another thread has taken over from it.
    */
  private final class InPlace(always: Boolean) extends HandlerTimes:
    val isTakenOver = CountDownLatch(1)
    override def areShort: Boolean = always || isTakenOver.getCount > 0
    override def distrust(): Unit = isTakenOver.countDown()
    override def suspect(): Unit = isTakenOver.countDown()
    override def kept(nanos: Long): Unit = ()

  private def inPlace[A](handler: Request => Task[Response], always: Boolean = false)(
      body: (Int, InPlace) => A
  ): A =
    val times = InPlace(always)
    JettyServer
      .running(0, ServerSettings(), handler, summon[WeirRuntime], times)
      .use(server => Task(body(server.port, times)))
      .runSync()

  for (name, keeps) <- List[(String, CountDownLatch => Unit)](
      "blocks" -> (released => released.await()),
      "computes" -> (released => while released.getCount > 0 do Thread.onSpinWait())
    )
  do
    test(s"a handler that $name on the thread that reads holds up nobody"):
      val released = CountDownLatch(1)
      val begun = CountDownLatch(1)
      val keeper = Task.delay {
        val at = Thread.currentThread.getName
        begun.countDown()
        keeps(released)
        Response.text(at)
      }
      inPlace(request => if request.path == "/keep" then keeper else thread) { (port, times) =>
        connected(port) { kept =>
          connected(port) { other =>
            val reader = other.get("/").body
            assert(reader.startsWith("weir-http"), reader)
            kept.send("GET /keep HTTP/1.1\nHost: h\n\n")
            await(begun)
            await(times.isTakenOver)
            try
              // Both the request after it and a new connection are served.
              assertEquals(other.get("/").body, "weir-worker")
              assertEquals(connected(port)(_.get("/").status), 200)
            finally released.countDown()
            assertEquals(kept.response().body, reader)
            assertEquals(kept.get("/").status, 200)
          }
        }
      }

  test("readers that are kept one after the other, and come back, hold up nobody"):
    val isReleased = Vector.fill(4)(AtomicBoolean())
    val begun = Vector.fill(4)(CountDownLatch(1))
    def keeper(n: Int) = Task.delay {
      begun(n).countDown()
      while !isReleased(n).get do Thread.sleep(1)
      Response.text("")
    }
    val handler = (request: Request) =>
      request.path match
        case s"/keep/$n" => keeper(n.toInt)
        case _ => thread
    serving(handler) { port =>
      connected(port) { other =>
        val kept = Vector.fill(4)(RawConnection(port))
        def comesBack(n: Int): Unit =
          isReleased(n).set(true)
          assertEquals(kept(n).response().status, 200)
          assertEquals(kept(n).get("/").status, 200)
        try
          for n <- 0 to 3 do
            untilInPlace(other)
            kept(n).send(s"GET /keep/$n HTTP/1.1\nHost: h\n\n")
            await(begun(n))
            assertEquals(connected(port)(_.get("/").status), 200, n)
            if n >= 2 then comesBack(n - 2)
          comesBack(3)
          comesBack(2)
        finally
          isReleased.foreach(_.set(true))
          kept.foreach(_.close())
      }
    }

  test("of handlers that compute for a while, few keep the thread that reads"):
    val spins = Task.delay {
      val end = System.nanoTime() + 3_000_000
      while System.nanoTime() < end do Thread.onSpinWait()
      Response.text(Thread.currentThread.getName)
    }
    exchanging(request => if request.path == "/spin" then spins else thread) { connection =>
      untilInPlace(connection)
      for _ <- 1 to 500 do connection.get("/"): Unit // as many as it takes to be trusted
      val names = List.fill(10)(connection.get("/spin").body)
      assert(names.count(_.startsWith("weir-http")) <= 2, names)
      untilInPlace(connection)
    }

  test("an InterruptedException on the thread that reads is an error, and harms no other request"):
    val fails = Task
      .delay[Response](throw InterruptedException("that of a driver"))
      .handleErrorWith(_ => thread)
    val waits = Task.delay {
      val isFree = Semaphore(1).tryAcquire(1, TimeUnit.SECONDS)
      Response.text(s"$isFree ${Thread.currentThread.getName}")
    }
    val handler = (request: Request) =>
      request.path match
        case "/fails" => fails
        case "/waits" => waits
        case _ => thread
    serving(handler) { port =>
      connected(port) { first =>
        connected(port) { second =>
          for _ <- 1 to 50 do
            untilInPlace(second)
            first.send("GET /fails HTTP/1.1\nHost: h\n\n")
            second.send("GET /waits HTTP/1.1\nHost: h\n\n")
            val (failed, waited) = (first.response(), second.response())
            assertEquals(failed.status, 200)
            assertEquals(waited.status, 200)
            assert(waited.body.startsWith("true"), waited.body)
        }
      }
    }

  test("a handler that waits leaves the thread that reads, for a body too"):
    val handler = (request: Request) =>
      request.path match
        case "/body" => request.body.text() >> thread
        case "/wait" => Task.never
        case _ => thread
    inPlace(handler, always = true) { (port, _) =>
      connected(port) { waiting =>
        connected(port) { sender =>
          connected(port) { other =>
            waiting.send("GET /wait HTTP/1.1\nHost: h\n\n")
            sender.send("POST /body HTTP/1.1\nHost: h\nContent-Length: 6\n\nabc")
            val reader = other.get("/").body
            assert(reader.startsWith("weir-http"), reader)
            sender.send("def")
            assertEquals(sender.response().body, "weir-worker")
          }
        }
      }
    }

  test("code that blocks the thread that reads is interrupted when its client goes"):
    val interrupted = CountDownLatch(1)
    val begun = CountDownLatch(1)
    val keeper = Task.delay {
      begun.countDown()
      try Thread.sleep(3_600_000)
      catch case _: InterruptedException => interrupted.countDown()
      Response.text("")
    }
    serving(request => if request.path == "/keep" then keeper else thread) { port =>
      connected(port) { other =>
        untilInPlace(other)
        connected(port) { kept =>
          kept.send("GET /keep HTTP/1.1\nHost: h\n\n")
          await(begun)
        }
        await(interrupted)
        assertEquals(other.get("/").status, 200)
      }
    }

  test("code that blocks the thread that reads is interrupted after the handler's time"):
    val begun = CountDownLatch(1)
    val keeper = Task.delay {
      begun.countDown()
      Thread.sleep(3_600_000)
      Response.text("")
    }
    serving(
      request => if request.path == "/keep" then keeper else thread,
      ServerSettings(handlerTimeout = 300.millis)
    ) { port =>
      connected(port) { other =>
        untilInPlace(other)
        connected(port)(kept => assertEquals(kept.get("/keep").status, 503))
      }
    }

  test("the time for which the access log keeps the thread that reads is counted"):
    val longest = java.util.concurrent.atomic.AtomicLong()
    val times = new HandlerTimes:
      override def areShort: Boolean = true
      override def kept(nanos: Long): Unit = longest.accumulateAndGet(nanos, _.max(_)): Unit
    val slow = new java.util.logging.Handler:
      def publish(record: java.util.logging.LogRecord): Unit =
        val end = System.nanoTime() + 5_000_000
        while System.nanoTime() < end do Thread.onSpinWait()
      def flush(): Unit = ()
      def close(): Unit = ()
    val logger = java.util.logging.Logger.getLogger("weir.http.access")
    logger.addHandler(slow)
    logger.setUseParentHandlers(false)
    try
      JettyServer
        .running(0, ServerSettings(accessLog = true), ok, summon[WeirRuntime], times)
        .use(server =>
          Task(connected(server.port) { connection =>
            // A thread that is replaced meanwhile, on a busy machine, does not count.
            eventually(s"${longest.get}") {
              connection.get("/"): Unit
              longest.get >= 5_000_000
            }
          })
        )
        .runSync()
    finally
      logger.removeHandler(slow)
      logger.setUseParentHandlers(true)
