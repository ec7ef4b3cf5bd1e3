package weir.postgres.protocol

import java.net.{SocketTimeoutException, StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.{ServerSocketChannel, SocketChannel}
import java.nio.file.Files
import weir.WeirSuite

class UnixSocketSuite extends munit.FunSuite, WeirSuite:
  /** A socket, and the server's end of it. */
  private def pair(body: (UnixSocket, SocketChannel) => Unit): Unit =
    val folder = Files.createTempDirectory("weir-unix")
    val path = folder.resolve("socket")
    val listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
    val socket = UnixSocket(path, _ => (), StartupPacket(Map.empty))
    try
      listening.bind(UnixDomainSocketAddress.of(path)): Unit
      socket.connect(UnixDomainSocketAddress.of(path))
      val other = listening.accept()
      // The bytes of these tests are no messages.
      socket.input.messages.becomeOpaque()
      try body(socket, other)
      finally other.close()
    finally
      socket.close()
      listening.close()
      Files.deleteIfExists(path): Unit
      Files.delete(folder)

  private def send(channel: SocketChannel, text: String): Unit =
    channel.write(ByteBuffer.wrap(text.getBytes)): Unit

  private def read(socket: UnixSocket): String =
    val bytes = new Array[Byte](100)
    val count = socket.getInputStream.read(bytes, 0, 100)
    if count < 0 then "end" else String(bytes, 0, count)

  test("a read takes what is there, then waits, then ends"):
    pair { (socket, other) =>
      send(other, "abc")
      assertEquals(read(socket), "abc")
      val waiting = java.util.concurrent.FutureTask(() => read(socket))
      val reader = Thread.ofVirtual().start(waiting)
      eventually("it waits")(reader.getState == Thread.State.WAITING)
      send(other, "d")
      assertEquals(waiting.get, "d")
      other.close()
      assertEquals(read(socket), "end")
    }

  test("a read with a timeout ends without bytes, and loses none"):
    pair { (socket, other) =>
      socket.setSoTimeout(20)
      intercept[SocketTimeoutException](read(socket)): Unit
      send(other, "abc")
      assertEquals(read(socket), "abc")
      socket.setSoTimeout(0)
      send(other, "d")
      assertEquals(read(socket), "d")
    }

  test("a write of any size arrives, also after a timeout"):
    pair { (socket, other) =>
      socket.setSoTimeout(1)
      intercept[SocketTimeoutException](read(socket)): Unit
      val bytes = Array.tabulate(1 << 20)(_.toByte)
      val writer = Thread.ofVirtual().start { () =>
        socket.getOutputStream.write(bytes, 0, bytes.length)
        socket.shutdownOutput()
      }
      val got = ByteBuffer.allocate(bytes.length + 1)
      while other.read(got) >= 0 do ()
      writer.join()
      assert(java.util.Arrays.equals(java.util.Arrays.copyOf(got.array, got.position()), bytes))
    }

  test("closing ends a read that waits"):
    pair { (socket, _) =>
      val waiting = java.util.concurrent.FutureTask(() => scala.util.Try(read(socket)).isFailure)
      val reader = Thread.ofVirtual().start(waiting)
      eventually("it waits")(reader.getState == Thread.State.WAITING)
      socket.close()
      assert(waiting.get)
      assert(socket.isClosed)
    }
