package fs2.io.net

import cats.effect.kernel.Resource
import com.comcast.ip4s.{Dns, GenSocketAddress, Host, SocketAddress}
import java.net.{InetAddress, InetSocketAddress, StandardProtocolFamily}
import java.nio.channels.ServerSocketChannel
import java.util.concurrent.ThreadFactory
import weir.interop.cats.given
import weir.{Task, WeirRuntime}

/** TCP over sockets that block; the rest is fs2's own network.
  *
  * It is in fs2's package since `Network` is sealed, and what may extend it is private to fs2's
  * packages: decision 0020.
  */
final class BlockingNetwork private () extends Network.AsyncNetwork[Task]:
  private val others = Network.forAsync[Task]
  private given Dns[Task] = dns

  def connect(
      address: GenSocketAddress,
      options: List[SocketOption]
  ): Resource[Task, Socket[Task]] =
    matchAddress(address, connectIp(_, options), others.connect(_, options))

  def bind(
      address: GenSocketAddress,
      options: List[SocketOption]
  ): Resource[Task, ServerSocket[Task]] =
    matchAddress(address, bindIp(_, options), others.bind(_, options))

  def bindDatagramSocket(
      address: GenSocketAddress,
      options: List[SocketOption]
  ): Resource[Task, DatagramSocket[Task]] = others.bindDatagramSocket(address, options)

  private def connectIp(
      address: SocketAddress[Host],
      options: List[SocketOption]
  ): Resource[Task, Socket[Task]] =
    Resource
      .make(Task(BlockingSocket()))(socket => Task(socket.release()))
      .evalMap { socket =>
        address.resolve[Task].flatMap { ip =>
          OnWorker {
            options.foreach(option => socket.setOption(option.key, option.value))
            socket.connect(ip.toInetSocketAddress)
            TaskSocket(socket)
          }
        }
      }

  private def bindIp(
      address: SocketAddress[Host],
      options: List[SocketOption]
  ): Resource[Task, ServerSocket[Task]] =
    Resource
      .make(Task(BlockingServerSocket()))(server => Task(server.release()))
      .evalMap { server =>
        address.host.resolve[Task].map { ip =>
          val inet = if ip.isWildcard then BlockingNetwork.wildcard else ip.toInetAddress
          server.bind(InetSocketAddress(inet, address.port.value))
          val bound = SocketAddressHelpers.toGenSocketAddress(server.getLocalSocketAddress)
          val listening = TaskServerSocket(server, options, bound)
          ServerSocket(listening, listening.accept)
        }
      }

  // deprecated

  def socketGroup(
      threadCount: Int,
      threadFactory: ThreadFactory
  ): Resource[Task, SocketGroup[Task]] =
    Resource.pure(this)

  def datagramSocketGroup(threadFactory: ThreadFactory): Resource[Task, DatagramSocketGroup[Task]] =
    Resource.pure(this)

object BlockingNetwork:
  def apply(): Network[Task] = new BlockingNetwork()

  /** The wildcard address of IPv6, or of IPv4 if there is no IPv6. A socket that is bound to that
    * of IPv6 accepts connections of both families, and has it as its own address, as a channel
    * does.
    */
  private lazy val wildcard: InetAddress =
    try
      ServerSocketChannel.open(StandardProtocolFamily.INET6).close()
      InetAddress.getByName("::")
    catch case _: UnsupportedOperationException => InetAddress.getByName("0.0.0.0")

/** Code that blocks on sockets, which an interrupt ends on a virtual thread only: where a platform
  * thread has called `runSync`, and inside of an `evalOn`, a worker runs it.
  */
private[net] object OnWorker:
  inline def apply[A](inline body: A): Task[A] =
    val here = Task(body)
    Task.defer(if Thread.currentThread.isVirtual then here else elsewhere(here))

  private def elsewhere[A](task: Task[A]): Task[A] =
    val onWorker = task.evalOn(summon[WeirRuntime].executionContext)
    Task.uncancelable(poll =>
      onWorker.start.flatMap(fiber => poll(fiber.joinOrFail).onCancel(fiber.cancel))
    )
