package weir.cli.sql

import java.io.IOException
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.channels.{Channels, ServerSocketChannel, SocketChannel}
import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

/** A proxy between `weir sql` and the server of `folder`. It counts the bytes to the server, and
  * runs `act` at a given number.
  *
  * @param afterBytes
  *   to the server, of all connections together
  * @param act
  *   what it does, while it keeps the bytes that come next
  */
final class UnixProxy(folder: Path, afterBytes: Long)(act: UnixProxy => Unit) extends AutoCloseable:
  private val own = Files.createTempDirectory("weir-proxy")
  private val listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
  private val channels = ConcurrentLinkedQueue[SocketChannel]()
  private val name = ".s.PGSQL.5432"
  private val acted = AtomicBoolean()

  /** The number of bytes that the server has been sent. */
  val sentBytes: AtomicLong = AtomicLong()

  listening.bind(UnixDomainSocketAddress.of(own.resolve(name))): Unit
  Thread.ofVirtual().start { () =>
    try while true do join(listening.accept())
    catch case _: IOException => () // closed
  }: Unit

  /** Returns an address of the database of `url` that leads through this proxy. */
  def through(url: String): String = url.replace(folder.toString, own.toString)

  private def join(client: SocketChannel): Unit =
    val server = SocketChannel.open(UnixDomainSocketAddress.of(folder.resolve(name)))
    channels.add(client)
    channels.add(server)
    carry(client, server) { length =>
      if sentBytes.addAndGet(length) > afterBytes && acted.compareAndSet(false, true) then act(this)
    }
    carry(server, client)(_ => ())

  private def carry(from: SocketChannel, to: SocketChannel)(carried: Int => Unit): Unit =
    Thread.ofVirtual().start { () =>
      val in = Channels.newInputStream(from)
      val out = Channels.newOutputStream(to)
      val bytes = new Array[Byte](64 << 10)
      try
        var length = in.read(bytes)
        while length > 0 do
          out.write(bytes, 0, length)
          carried(length)
          length = in.read(bytes)
      catch case _: IOException => ()
      finally
        from.close()
        to.close()
    }: Unit

  /** Closes all connections on both sides. New ones are taken. */
  def cut(): Unit = channels.forEach(_.close())

  def close(): Unit =
    listening.close()
    cut()
    Files.deleteIfExists(own.resolve(name)): Unit
    Files.delete(own)
