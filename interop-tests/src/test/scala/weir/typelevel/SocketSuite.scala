package weir.typelevel

import _root_.fs2.Chunk
import _root_.fs2.io.net.Socket
import cats.effect.implicits.*
import cats.effect.kernel.Resource
import cats.syntax.all.*
import com.comcast.ip4s.{Host, SocketAddress, host, ip, port}
import java.io.IOException
import java.net.{BindException, ConnectException}
import java.nio.channels.ClosedChannelException
import scala.concurrent.duration.*
import weir.{Tier, WeirSuite}

/** Each call of a socket in each state gives on `Task` what it gives on `IO`: a value, or an error
  * of that kind.
  */
class SocketSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(1.minute, 5.minutes)

  /** A call, and the result that both backends must give. */
  private enum Call:
    case EndOfOutput, EndOfInput, Read, ReadN, Reads, Write, Address, Peer
    case SupportedOptions, GetOption, SetOption, UnsupportedOption

  private enum State(val name: String):
    case Open extends State("open")
    case Unread extends State("open, with unread bytes of which one is read")
    case OutputEnded extends State("after endOfOutput")
    case InputEnded extends State("after endOfInput")
    case BothEnded extends State("after endOfInput and endOfOutput")
    case PeerEnded extends State("after the peer's endOfOutput")
    case PeerGone extends State("after the release of the peer")
    case Released extends State("after the release")
    case UnreadReleased extends State("after the release, with unread bytes of which one is read")

  for state <- State.values do
    test(s"${state.name}: the calls do what they do on IO"):
      val calls = Call.values.toList.filter {
        // would wait for ever
        case Call.Read | Call.ReadN | Call.Reads =>
          state != State.Open && state != State.OutputEnded
        case _ => true
      }
      def on[F[_]](backend: Backend[F]) =
        calls.map(call => (call, backend.run(outcome(backend)(state, call, 1))))
      assertEquals(on(Backend.task), on(Backend.io))

    test(s"${state.name}: a second call does what it does on IO"):
      def on[F[_]](backend: Backend[F]) =
        List(Call.EndOfInput, Call.EndOfOutput, Call.SetOption).map(call =>
          (call, backend.run(outcome(backend)(state, call, 2)))
        )
      assertEquals(on(Backend.task), on(Backend.io))

  test(
    "the address of a server that is bound to each wildcard is that of IO; both families get in"
  ):
    def on[F[_]](backend: Backend[F]) =
      import backend.given
      for wildcard <- List(ip"0.0.0.0", ip"::")
      yield backend.run(backend.network.bind(SocketAddress(wildcard, port"0")).use { server =>
        val bound = server.address.asIpUnsafe
        val clients = List(ip"127.0.0.1", ip"::1").traverse(loopback =>
          backend.network.connect(SocketAddress(loopback, bound.port)).use(_.read(1)).attempt
        )
        val accepted = server.accept.take(2).evalMap(_.write(Chunk(1.toByte))).compile.drain
        accepted.background.surround(clients).map((bound.host, _))
      })
    val onTask = on(Backend.task)
    assertEquals(onTask, on(Backend.io))
    assert(onTask.forall((_, reads) => reads.exists(_.isRight)), onTask)

  /** The result of the last of `times` calls. */
  private def outcome[F[_]](backend: Backend[F])(state: State, call: Call, times: Int): F[String] =
    import backend.given
    val F = backend.async

    val bytes = Chunk.array("12345".getBytes)

    def run(socket: Socket[F]): F[Any] = call match
      case Call.EndOfOutput => socket.endOfOutput.widen
      case Call.EndOfInput => socket.endOfInput.widen
      case Call.Read => socket.read(10).map(_.map(_.toList)).widen
      case Call.ReadN => socket.readN(3).map(_.toList).widen
      case Call.Reads => socket.reads.take(3).compile.toList.widen
      case Call.Write => socket.write(bytes).widen
      case Call.Address => F.delay(socket.address.asIpUnsafe.host)
      case Call.Peer => F.delay(socket.peerAddress.asIpUnsafe.host)
      case Call.SupportedOptions =>
        socket.supportedOptions.map(_.contains(java.net.StandardSocketOptions.TCP_NODELAY)).widen
      case Call.GetOption => socket.getOption(java.net.StandardSocketOptions.TCP_NODELAY).widen
      case Call.SetOption =>
        socket.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true).widen
      case Call.UnsupportedOption =>
        socket.setOption(java.net.StandardSocketOptions.IP_MULTICAST_TTL, Integer.valueOf(1)).widen

    def calls(socket: Socket[F]): F[String] =
      (run(socket).attempt.replicateA_(times - 1) *> run(socket).attempt)
        .timeoutTo(5.seconds, F.pure(Right("waits")))
        .map {
          case Right(value) => value.toString
          case Left(error) => kind(error)
        }

    pair(backend).allocatedCase.flatMap { case (((client, accepted), releasePeer), release) =>
      val some = accepted.write(bytes) *> client.readN(1)
      val free = release(Resource.ExitCase.Succeeded)
      state match
        case State.Open => calls(client) <* free
        case State.Unread => some *> calls(client) <* free
        case State.OutputEnded => client.endOfOutput *> calls(client) <* free
        case State.InputEnded => client.endOfInput *> calls(client) <* free
        case State.BothEnded =>
          client.endOfInput *> client.endOfOutput *> calls(client) <* free
        case State.PeerEnded => accepted.endOfOutput *> client.readN(1) *> calls(client) <* free
        case State.PeerGone => releasePeer *> client.read(1) *> calls(client) <* free
        case State.Released => free *> calls(client)
        case State.UnreadReleased => some *> free *> calls(client)
    }

  /** The part that programs check of errors whose classes differ with the sockets that are used. */
  private def kind(error: Throwable): String = error match
    case _: ClosedChannelException => "ClosedChannelException"
    case _: ConnectException => "ConnectException"
    case _: BindException => "BindException"
    case _: IOException => "IOException"
    case other => other.getClass.getName

  private val local: SocketAddress[Host] = SocketAddress(host"127.0.0.1", port"0")

  /** A connection of a client, and what the server has accepted, with its release. */
  private def pair[F[_]](
      backend: Backend[F]
  ): Resource[F, ((Socket[F], Socket[F]), F[Unit])] =
    import backend.given
    for
      server <- backend.network.bind(local)
      accepting <- server.accept.take(1).compile.resource.lastOrError.allocated.background
      client <- backend.network.connect(server.address)
      (accepted, release) <- Resource.eval(accepting.flatMap(_.embedError))
    yield ((client, accepted), release)
