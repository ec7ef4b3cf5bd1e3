package weir.kafka

import java.io.{DataInputStream, DataOutputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}
import scala.jdk.CollectionConverters.*

/** Passes connections on to a broker at a port of this machine, until it is told to cut them, or to
  * hold requests.
  */
final class TcpProxy extends AutoCloseable:
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

  def close(): Unit =
    server.close()
    cut()

  @volatile private var gate: TcpProxy.Gate | Null = null

  /** While `body` runs, a request with this key of Kafka's protocol waits at the gate, and with it
    * all that its connection sends later. `anyKey` is for all requests.
    */
  def holding[A](apiKey: Int)(body: TcpProxy.Gate => A): A =
    val held = TcpProxy.Gate(apiKey)
    gate = held
    try body(held)
    finally
      gate = null
      held.open()

  private def accept(): Unit =
    try
      while true do
        val client = server.accept()
        Thread.ofVirtual().start(() => connect(client)): Unit
    catch case error: IOException => if !server.isClosed then throw error

  private def connect(client: Socket): Unit =
    try
      if isCut then client.close()
      else
        val upstream = Socket(InetAddress.getLoopbackAddress, target)
        // Otherwise the second of two small writes waits 40 ms for the other side.
        for socket <- List(client, upstream) do socket.setTcpNoDelay(true)
        open.add(client)
        open.add(upstream)
        if isCut then cut()
        Thread.ofVirtual().start(() => passRequests(client, upstream)): Unit
        copy(upstream, client)
    catch case _: IOException => client.close()

  private def passRequests(from: Socket, to: Socket): Unit = passing(from, to):
    val (in, out) = (DataInputStream(from.getInputStream), DataOutputStream(to.getOutputStream))
    while true do
      val request = new Array[Byte](in.readInt())
      in.readFully(request)
      val held = gate
      if held != null then held.pass(request)
      out.writeInt(request.length)
      out.write(request)

  private def copy(from: Socket, to: Socket): Unit = passing(from, to):
    from.getInputStream.transferTo(to.getOutputStream): Unit

  private def passing(from: Socket, to: Socket)(body: => Unit): Unit =
    try body
    catch case _: IOException => ()
    finally
      from.close()
      to.close()
      open.remove(from)
      open.remove(to): Unit

object TcpProxy:
  /** Where requests with an API key wait. */
  final class Gate(apiKey: Int):
    private val (reached, opened) = (CountDownLatch(1), CountDownLatch(1))

    /** Waits until a request has come. */
    def awaitRequest(): Unit = reached.await()
    def open(): Unit = opened.countDown()

    def pass(request: Array[Byte]): Unit =
      if apiKey == anyKey || ((request(0) << 8) | request(1)) == apiKey then
        reached.countDown()
        opened.await()

  val offsetFetch = 9
  val anyKey: Int = -1
