package weir
package stream

import java.io.IOException
import java.net.{ConnectException, ServerSocket, Socket}
import scala.concurrent.duration.*

class TcpSuite extends StreamTests:

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
