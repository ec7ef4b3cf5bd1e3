package weir.kafka

import java.io.IOException
import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters.*

/** Passes connections on to a port of this machine, until it is told to cut them. */
final class TcpProxy:
  private val server = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val open = ConcurrentHashMap.newKeySet[Socket]()
  @volatile private var target = 0
  @volatile private var isCut = false

  val port: Int = server.getLocalPort

  def forwardTo(port: Int): Unit =
    target = port
    Thread.ofVirtual().start(() => accept()): Unit

  /** Ends all connections, and takes no more. */
  def cut(): Unit =
    isCut = true
    open.asScala.foreach(_.close())

  def mend(): Unit = isCut = false

  private def accept(): Unit =
    while true do
      val client = server.accept()
      Thread.ofVirtual().start(() => connect(client)): Unit

  private def connect(client: Socket): Unit =
    try
      if isCut then client.close()
      else
        val upstream = Socket(InetAddress.getLoopbackAddress, target)
        open.add(client)
        open.add(upstream)
        if isCut then cut()
        Thread.ofVirtual().start(() => copy(client, upstream)): Unit
        copy(upstream, client)
    catch case _: IOException => client.close()

  private def copy(from: Socket, to: Socket): Unit =
    try from.getInputStream.transferTo(to.getOutputStream): Unit
    catch case _: IOException => ()
    finally
      from.close()
      to.close()
      open.remove(from)
      open.remove(to): Unit
