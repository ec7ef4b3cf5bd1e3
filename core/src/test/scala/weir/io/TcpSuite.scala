package weir
package io

import java.io.IOException
import java.net.{ConnectException, ServerSocket, Socket, SocketException}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.runtime.{Scheduler, SystemTimers}

class TcpSuite extends StreamTests:

  /** A JVM is started. */
  override def limit: FiniteDuration = 90.seconds

  private val echo: Tcp.Connection => Task[Any] = c => c.writeAll(c.bytes(7))

  test("what is sent comes back, over several connections at a time"):
    val sent = "hello " * 100
    val all = Tcp.listen(0).use { server =>
      val client = Tcp.connect("localhost", server.port).use { connection =>
        val send = connection.write(sent.getBytes).flatMap(_ => connection.endOfOutput)
        val receive = Text.utf8Decode(connection.bytes()).toList.map(_.mkString)
        send.both(receive).map(_._2)
      }
      server.serve(limit = 3)(echo).background.use(_ => Task.parTraverse(1 to 5)(_ => client))
    }
    assertEquals(all.runSync().toList, List.fill(5)(sent))

  /** A server and a client that are connected, both to be closed by the releases. */
  private val pair: Resource[(Tcp.Connection, Tcp.Connection)] =
    for
      server <- Tcp.listen(0)
      client <- Tcp.connect("localhost", server.port)
      accepted <- Resource.eval(server.connections.take(1).toList).flatMap(_.head)
    yield (client, accepted)

  test("the end of a connection is the end of the other side's bytes; streams share them"):
    val read = pair.use { (client, accepted) =>
      for
        _ <- client.write("abc".getBytes)
        first <- accepted.bytes(1).take(1).toList
        _ <- client.endOfOutput
        rest <- accepted.bytes().toList
        _ <- accepted.write("back".getBytes)
        back <- client.bytes().take(1).toList
      yield (first ++ rest ++ back).map(String(_)).mkString
    }
    assertEquals(read.runSync(), "abcback")

  test("a cancel ends a read that waits, and closes the connection"):
    val closed = pair.use { (client, accepted) =>
      for
        result <- client.bytes().drain.timeout(50.millis).attempt
        rest <- accepted.bytes().drain.attempt
      yield (result, rest)
    }
    closed.timeout(10.seconds).runSync() match
      case (Left(_: java.util.concurrent.TimeoutException), Right(())) => ()
      case other => fail(s"$other")

  test("a cancel ends a write that waits for the other side"):
    val result = pair.use { (client, _) =>
      client.writeAll(Stream.constant(new Array[Byte](1 << 20))).timeout(50.millis).attempt
    }
    assert(result.timeout(10.seconds).runSync().isLeft)

  test("the release of a server ends its connections, also those that nobody uses"):
    var client: Socket | Null = null
    val use = Tcp.listen(0).use { server =>
      client = Socket("localhost", server.port)
      server.connections.take(1).drain
    }
    use.runSync()
    client.nn.setSoTimeout(10_000)
    assertEquals(client.nn.getInputStream.read(), -1)
    client.nn.close()

  test("a cancel ends a wait for connections; the port is free after the release"):
    var port = 0
    val use = Tcp.listen(0).use { server =>
      port = server.port
      server.connections.drain.timeout(20.millis).attempt
    }
    assert(use.runSync().isLeft)
    ServerSocket(port).close()

  test("a failure of a handler ends serve, which closes its connection"):
    val boom = Boom()
    val use = Tcp.listen(0).use { server =>
      Tcp.connect("localhost", server.port).use { client =>
        server.serve(1)(_ => Task.fail(boom)).attempt.both(client.bytes().drain)
      }
    }
    assertEquals(use.runSync()._1, Left(boom))

  test("nobody listens there; a port in use"):
    val socket = ServerSocket(0)
    val port = socket.getLocalPort
    intercept[IOException](Tcp.listen(port, "0.0.0.0").use(_ => Task.unit).runSync()): Unit
    socket.close()
    intercept[ConnectException](Tcp.connect("localhost", port).use(_ => Task.unit).runSync()): Unit

  test("a connection knows the address of the other side, on both sides"):
    val addresses = Tcp.listen(0).use { server =>
      Tcp.connect("localhost", server.port).use { client =>
        server.connections
          .flatMap(Stream.resource(_))
          .take(1)
          .toList
          .map(accepted =>
            (
              client.remote.getPort == server.port,
              accepted.head.remote.getAddress.isLoopbackAddress
            )
          )
      }
    }
    assertEquals(addresses.runSync(), (true, true))

  /** A runtime that keeps its reports instead of printing them. */
  private final class Reports extends WeirRuntime(Scheduler(2, 4), SystemTimers(), null):
    val lines: ConcurrentLinkedQueue[String] = ConcurrentLinkedQueue()
    override private[weir] def report(where: String, error: Throwable): Unit =
      lines.add(s"$where: ${error.getMessage}"): Unit

  /** A server whose first `failures` attempts to accept a connection fail. */
  private def failing(failures: Int, attempts: AtomicInteger): Resource[Tcp.Server] =
    Tcp.listenOn(
      new ServerSocket(0):
        override def accept(): Socket =
          if attempts.getAndIncrement() < failures then throw SocketException("Too many open files")
          else super.accept()
    )

  test("where a connection cannot be accepted, serve goes on, and so do the connections"):
    val attempts = AtomicInteger()
    val answer = failing(3, attempts).use { server =>
      val client = Tcp.connect("localhost", server.port).use { connection =>
        connection.write("a".getBytes) >> connection.endOfOutput >>
          Text.utf8Decode(connection.bytes()).mkString()
      }
      server.serve(limit = 3)(echo).background.use(_ => client)
    }
    val reports = Reports()
    assertEquals(answer.runSync()(using reports), "a")
    val lines = reports.lines.asScala.toList
    assertEquals(lines.size, 3)
    for line <- lines do
      assert(line.startsWith("Tcp.Server: accepting a connection at port "), line)
      assert(line.endsWith(": Too many open files"), line)

  test("a cancel ends the pause after a connection that cannot be accepted; so does the release"):
    val attempts = AtomicInteger()
    val end = failing(Int.MaxValue, attempts).use { server =>
      server.connections.drain.start.flatMap { fiber =>
        Task(eventually("it has failed")(attempts.get >= 3)) >> fiber.cancel >> fiber.join
      }
    }
    assertEquals(end.runSync()(using Reports()), Outcome.Canceled)
    val fiber = failing(Int.MaxValue, attempts).use(_.connections.drain.attempt.start)
    assert(fiber.flatMap(_.joinOrFail).runSync()(using Reports()).isLeft)

  test("serve goes on where the process has too many files open"):
    assume(Files.exists(Path.of("/bin/sh")), "the limit is set by a Unix shell")
    val limited = Seq("/bin/sh", "-c", "ulimit -n 256; exec \"$0\" \"$@\"")
    val (text, code) = WeirSuite.childOf(limited, 60.seconds)("weir.io.TcpFullProcess")
    assertEquals(
      (text.linesIterator.toList, code),
      (
        List(
          "before: answered",
          "meanwhile, the early one: answered",
          "the server has reported it",
          "after, the late one: answered",
          "after, the early one: answered"
        ),
        0
      )
    )

  test("a connection that is accepted while the server is released is closed"):
    val accepting, released = CountDownLatch(1)
    var client: Socket | Null = null
    def socket = new ServerSocket(0):
      override def accept(): Socket =
        val accepted = super.accept()
        accepting.countDown()
        released.await()
        accepted
    val fiber = Tcp
      .listenOn(socket)
      .use { server =>
        client = Socket("localhost", server.port)
        server.connections.drain.attempt.start.flatMap(fiber => Task(accepting.await()).as(fiber))
      }
      .runSync()
    released.countDown()
    assert(fiber.joinOrFail.runSync().isLeft)
    client.nn.setSoTimeout(10_000)
    assertEquals(client.nn.getInputStream.read(), -1)
    client.nn.close()

  test("a server keeps nothing of a connection that has ended"):
    val kept = Tcp.listen(0).use { server =>
      val client = Tcp.connect("localhost", server.port).use { connection =>
        connection.endOfOutput >> connection.bytes().drain
      }
      server.serve(limit = 3)(echo).background.use { _ =>
        client.replicate(20) >>
          Task(eventually(s"${server.openConnections} are kept")(server.openConnections == 0))
      }
    }
    kept.runSync()
