package weir
package io

import java.io.IOException
import java.net.{ServerSocket, Socket}
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import javax.net.ssl.{SSLContext, SSLHandshakeException}
import scala.concurrent.duration.*

/** TLS, with certificates that the JDK's keytool signs. */
class TlsSuite extends StreamTests:
  import TlsContexts.*

  private val echo: Tcp.Connection => Task[Any] = c => c.writeAll(c.bytes(7)).attempt

  private def client(server: Tcp.Server, context: SSLContext = local, host: String = "localhost") =
    Tcp.connectTls(host, server.port, context)

  /** Runs a server that answers with what it gets. */
  private val echoing: Resource[Tcp.Server] =
    Tcp.listenTls(0, local).flatMap(server => server.serve(9)(echo).background.map(_ => server))

  private def echoed(connection: Tcp.Connection, text: String): Task[String] =
    connection
      .write(text.getBytes)
      .andThen(connection.endOfOutput)
      .both(Text.utf8Decode(connection.bytes()).mkString())
      .map(_._2)

  test("what is sent comes back, over several connections, after the end of the output too"):
    val sent = "hello " * 20_000
    val all =
      echoing.use(server => Task.parTraverse(1 to 5)(_ => client(server).use(echoed(_, sent))))
    assertEquals(all.runSync().toList, List.fill(5)(sent))

  test("what is sent is encrypted"):
    val seen = Tcp.listen(0).use { server =>
      val talk = Tcp.connectTls("localhost", server.port, local).use(_.write("secret".getBytes))
      val hello = server.connections
        .take(1)
        .flatMap(Stream.resource(_))
        .flatMap(_.bytes())
        .take(1)
        .toList
      talk.attempt.background.use(_ => hello)
    }
    assertEquals(seen.runSync().head.take(2).toList, List[Byte](22, 3)) // a handshake of TLS

  test("a certificate that the context does not trust is one clear error; the server goes on"):
    val result = echoing.use { server =>
      val refused = client(server, stranger).use(echoed(_, "a")).attempt
      refused.both(client(server).use(echoed(_, "b")))
    }
    val (refused, answered) = result.runSync()
    assertEquals(answered, "b")
    refused match
      case Left(error: SSLHandshakeException) =>
        val message = error.getMessage
        assert(message.startsWith("Tcp.connectTls: localhost:"), message)
        assert(message.contains(": the certificate of the server is not one that"), message)
        assert(message.endsWith("pass a context that trusts it."), message)
      case other => fail(s"$other")

  test("all that a client has written arrives, though it reads nothing and closes at once"):
    val count = 30
    val arrived = Tcp.listenTls(0, local).use { server =>
      val counts = server.connections
        .take(count)
        .flatMap(Stream.resource(_))
        .evalMap(_.bytes().fold(0)(_ + _.length).attempt)
      Task
        .traverse(1 to count)(_ => client(server).use(_.write(new Array[Byte](200_000))))
        .background
        .use(_ => counts.toList)
    }
    assertEquals(arrived.timeout(60.seconds).runSync(), List.fill(count)(Right(200_000)))

  test("an end that TLS does not announce is an error, though nothing is missing"):
    val read = Tcp.listenTls(0, local).both(Tcp.listen(0)).use { (server, relay) =>
      Deferred[Unit].flatMap { cut =>
        val sender = server.serve(1)(_.write("a".getBytes) >> Task.never)
        val cutter = relay.serve(1) { connection =>
          Tcp.connect("localhost", server.port).use { behind =>
            val there = behind.writeAll(connection.bytes()).attempt
            val back = connection.writeAll(behind.bytes()).attempt
            val ended = cut.get >> connection.endOfOutput >> Task.never
            there.background.use(_ => back.background.use(_ => ended))
          }
        }
        val reader = client(relay).use { connection =>
          connection
            .bytes()
            .take(1)
            .toList
            .flatMap(first =>
              cut.complete(()) >> connection.bytes().toList.attempt.map(first.map(String(_)) -> _)
            )
        }
        sender.background.use(_ => cutter.background.use(_ => reader))
      }
    }
    read.timeout(20.seconds).runSync() match
      case (List("a"), Left(error: IOException)) =>
        assert(error.getMessage.contains("TLS has not announced its end"), error.toString)
      case other => fail(s"$other")

  test("with TLS 1.2, the end of the output alone is refused"):
    val ended = echoing.use { server =>
      Tcp
        .connectTls("localhost", server.port, local, _.setProtocols(Array("TLSv1.2")))
        .use(connection => connection.write("a".getBytes) >> connection.endOfOutput.attempt)
    }
    val message = ended.runSync().swap.map(_.getMessage).getOrElse("")
    assert(message.startsWith("Tcp.Connection.endOfOutput: the protocol is TLSv1.2."), message)

  test("parameters that cannot be set fail the server at once"):
    val refused =
      Tcp.listenTls(0, local, change = _.setCipherSuites(Array("NONE"))).use(_ => Task.unit).attempt
    assert(refused.runSync().left.exists(_.isInstanceOf[IllegalArgumentException]))

  test("a connection whose layer cannot be made is closed"):
    val left = Tcp.listenOn(ServerSocket(0), _ => throw IOException("none")).use { server =>
      val socket = Socket("localhost", server.port)
      val failed = server.connections.take(1).flatMap(Stream.resource(_)).drain.attempt
      failed.map { result =>
        socket.setSoTimeout(10_000)
        (result.isLeft, server.openConnections, socket.getInputStream.read())
      }
    }
    assertEquals(left.runSync(), (true, 0, -1))

  test("a certificate for another name is refused"):
    val result =
      echoing.use(server => client(server, local, "127.0.0.1").use(echoed(_, "a")).attempt)
    val message = result.runSync().swap.map(_.getMessage).getOrElse("")
    assert(message.contains("not one that the context trusts for that name"), message)

  test("a client that speaks no TLS fails its handler alone"):
    val result = echoing.use { server =>
      Tcp.connect("localhost", server.port).use(echoed(_, "GET / HTTP/1.1\r\n\r\n" * 9)).attempt >>
        client(server).use(echoed(_, "b"))
    }
    assertEquals(result.runSync(), "b")

  test("a server that speaks no TLS is one clear error"):
    val result = Tcp.listen(0).use { server =>
      server
        .serve(1)(_.write(("220 mail\r\n" * 99).getBytes))
        .background
        .use(_ => client(server).use(_ => Task.unit).attempt)
    }
    assertHandshakeError(result.runSync())

  test("a server that closes at once is one clear error"):
    val result = Tcp.listen(0).use { server =>
      val closing = server.serve(1)(_.bytes().take(1).drain)
      closing.background.use(_ => client(server).use(_ => Task.unit).attempt)
    }
    assertHandshakeError(result.runSync())

  private def assertHandshakeError(result: Either[Throwable, Unit]): Unit =
    val message = result.swap.map(_.getMessage).getOrElse("")
    assert(message.startsWith("Tcp.connectTls: localhost:"), message)
    assert(message.contains(": the handshake has failed: "), message)
    assert(!message.contains("pass a context"), message)

  test("a client without a certificate is refused by a server that asks for one"):
    def answer(context: SSLContext) = Tcp
      .listenTls(0, local, change = _.setNeedClientAuth(true))
      .use(server =>
        server
          .serve(1)(echo)
          .background
          .use(_ => client(server, context).use(echoed(_, "a")).attempt)
      )
    assertEquals(answer(local).runSync(), Right("a"))
    assert(answer(trusting).runSync().left.exists(_.isInstanceOf[IOException]))

  test("a cancel ends a handshake that waits, a read, and a write"):
    val silent =
      Tcp.listen(0).use(server => client(server).use(_ => Task.unit).timeout(50.millis).attempt)
    val read = echoing.use(server => client(server).use(_.bytes().drain.timeout(50.millis)).attempt)
    val write = Tcp
      .listenTls(0, local)
      .use { server =>
        val reading = server.connections.take(1).flatMap(Stream.resource(_))
        val held = reading.evalMap(_.bytes().take(1).drain >> Task.never).drain
        val large = Stream.constant(new Array[Byte](1 << 20))
        held.background.use(_ => client(server).use(_.writeAll(large).timeout(500.millis)).attempt)
      }
    for ended <- List(silent, read, write) do
      ended.timeout(20.seconds).runSync() match
        case Left(_: TimeoutException) => ()
        case other => fail(s"$other")

  test("a release does not wait for a side that does not read"):
    val released = Tcp.listenTls(0, local).use { server =>
      val held = server.connections
        .take(1)
        .flatMap(Stream.resource(_))
        .evalMap(_.bytes().take(1).drain >> Task.never)
        .drain
      held.background.use { _ =>
        client(server).use { connection =>
          val begun = AtomicInteger()
          val block = new Array[Byte](1 << 20)
          val endless = Stream.repeatEval(Task { begun.incrementAndGet(); block })
          connection
            .writeAll(endless)
            .attempt
            .start
            .flatTap(_ => Task(settled(begun))) // then a write waits
        }
      }
    }
    assert(released.timeout(20.seconds).flatMap(_.joinOrFail).runSync().isLeft)

  test("the release of a server ends its connections"):
    val use = Tcp.listenTls(0, local).use { server =>
      val socket = Socket("localhost", server.port)
      server.connections.take(1).drain.as(socket)
    }
    val socket = use.runSync()
    socket.setSoTimeout(10_000)
    assertEquals(socket.getInputStream.read(), -1)
    socket.close()
