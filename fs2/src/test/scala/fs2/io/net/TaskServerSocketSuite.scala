package fs2.io.net

import fs2.Chunk
import java.io.{ByteArrayOutputStream, PrintStream}
import java.net.{InetAddress, InetSocketAddress, Socket as JavaSocket, SocketException}
import java.net.StandardSocketOptions
import java.util.concurrent.{CountDownLatch, Executors}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.ExecutionContext
import weir.interop.cats.given
import weir.{Outcome, WeirSuite}

/** Accepts that fail, and connections that come while nobody is there to take them. */
class TaskServerSocketSuite extends WeirSuite:

  /** A socket that listens, whose accepts run `around` the real one. */
  private final class Listening(around: (() => Unit) => Unit) extends BlockingServerSocket:
    bind(InetSocketAddress(InetAddress.getLoopbackAddress, 0))

    override def acceptInto(socket: BlockingSocket): Unit = around(() => super.acceptInto(socket))

    def connections(options: SocketOption*) =
      val address = SocketAddressHelpers.toGenSocketAddress(getLocalSocketAddress)
      TaskServerSocket(this, options.toList, address).accept

    def connect(): JavaSocket =
      val socket = JavaSocket(getInetAddress, getLocalPort)
      socket.setSoTimeout(10_000)
      socket

  private def listening(around: (() => Unit) => Unit)(body: Listening => Unit): Unit =
    val server = Listening(around)
    try body(server)
    finally server.release()

  private val hi = Chunk.array("hi".getBytes)

  private def printed(body: => Unit): String =
    val before = System.err
    val text = ByteArrayOutputStream()
    System.setErr(PrintStream(text, true))
    try body
    finally System.setErr(before)
    text.toString

  test("a failed accept is reported, and the server goes on"):
    val calls = AtomicInteger()
    def failsThrice(accept: () => Unit) =
      if calls.getAndIncrement() < 3 then throw SocketException("Too many open files") else accept()
    listening(failsThrice) { server =>
      val text = printed {
        val serve = server.connections().take(1).evalMap(_.write(hi)).compile.drain.start.runSync()
        val client = server.connect()
        try assertEquals(String(client.getInputStream.readNBytes(2)), "hi")
        finally client.close()
        assertEquals(serve.join.runSync(), Outcome.Succeeded(()))
      }
      val reports = text.linesIterator.filter(_.contains("was not accepted")).toList
      assertEquals(reports.size, 3, text)
      assert(reports.forall(_.contains("Too many open files")), text)
      assertEquals(calls.get, 4)
    }

  test("a server that cannot accept for long is cancelled at any time"):
    val calls = CountDownLatch(8)
    def fails(accept: () => Unit) =
      calls.countDown()
      throw SocketException("Too many open files")
    listening(fails) { server =>
      printed {
        val serve = server.connections().compile.drain.start.runSync()
        await(calls)
        serve.cancel.runSync()
        assertEquals(serve.join.runSync(), Outcome.Canceled)
      }: Unit
    }

  test("the end of the listening socket ends the stream"):
    val begun = CountDownLatch(1)
    def says(accept: () => Unit) =
      begun.countDown()
      accept()
    listening(says) { server =>
      val serve = server.connections().compile.drain.start.runSync()
      await(begun)
      server.release()
      assertEquals(serve.join.runSync(), Outcome.Succeeded(()))
      assertEquals(server.connections().compile.toList.runSync(), Nil)
    }

  test("an option that a connection does not have fails the stream, and closes the connection"):
    listening(accept => accept()) { server =>
      val multicast = SocketOption(StandardSocketOptions.IP_MULTICAST_TTL, Integer.valueOf(1))
      val serve = server.connections(multicast).compile.drain.attempt.start.runSync()
      val client = server.connect()
      try assertEquals(client.getInputStream.read(), -1)
      finally client.close()
      val failed = serve.joinOrFail.runSync()
      assert(failed.left.exists(_.isInstanceOf[UnsupportedOperationException]), failed)
    }

  /** Accepts, and returns once it is cancelled. */
  private final class UntilCancel:
    val accepted = CountDownLatch(1)

    def around(accept: () => Unit): Unit =
      accept()
      accepted.countDown()
      try Thread.sleep(20_000)
      catch case _: InterruptedException => ()

  test("a connection that is accepted while the server is cancelled is closed"):
    val pool = Executors.newCachedThreadPool()
    try
      for context <- List(None, Some(ExecutionContext.fromExecutor(pool))) do
        val held = UntilCancel()
        listening(held.around) { server =>
          val client = server.connect()
          val drain = server.connections().compile.drain
          val serve = context.fold(drain)(drain.evalOn(_)).start.runSync()
          await(held.accepted)
          serve.cancel.runSync()
          try assertEquals(client.getInputStream.read(), -1)
          finally client.close()
        }
    finally pool.shutdownNow(): Unit
