package weir.typelevel

import _root_.fs2.io.file.Path as Fs2Path
import _root_.fs2.io.net.tls.{TLSContext, TLSParameters, TLSSocket}
import _root_.fs2.io.net.{Socket, SocketOption}
import _root_.fs2.{Chunk, Stream}
import cats.effect.kernel.Resource
import cats.syntax.all.*
import com.comcast.ip4s.{Host, SocketAddress, host, port}
import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.util.concurrent.TimeUnit
import javax.net.ssl.SSLHandshakeException
import scala.concurrent.duration.*
import weir.{Tier, WeirSuite}

/** fs2's TLS over these sockets: the facts of fs2's own TLSSocketSuite (typelevel/fs2, MIT licence,
  * Copyright (c) 2013 Functional Streams for Scala), but for a server of the internet, in whose
  * place is one of this JVM.
  */
class TlsSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(1.minute, 5.minutes)

  testsOn(Backend.task)
  if Backend.hasControl then testsOn(Backend.io)

  private def testsOn[F[_]](backend: Backend[F]): Unit =
    import backend.given
    val F = backend.async
    val local: SocketAddress[Host] = SocketAddress(host"127.0.0.1", port"0")
    val message = Chunk.array(("Hello, world! " * 20000).getBytes)

    def on[A](name: String)(body: => F[A]): Unit =
      test(s"${backend.name}: $name")(backend.run(body): Unit)

    val trusted: F[TLSContext[F]] =
      F.delay(TlsSuite.keys)
        .flatMap(backend.network.tlsContext.fromKeyStore(_, TlsSuite.password.toCharArray))

    /** A client, beside a server that sends back what it reads. */
    def echoed[A](server: F[TLSContext[F]])(connect: Socket[F] => Resource[F, TLSSocket[F]])(
        use: TLSSocket[F] => Stream[F, A]
    ): Stream[F, A] =
      val setup =
        for
          context <- Resource.eval(server)
          listening <- backend.network.bind(local)
          client <- backend.network.connect(listening.address).flatMap(connect)
        yield (listening.accept.flatMap(s => Stream.resource(context.server(s))), client)
      Stream.resource(setup).flatMap { (accepted, client) =>
        val echo =
          accepted.map(socket => socket.reads.chunks.foreach(socket.write)).parJoinUnbounded
        use(client).concurrently(echo)
      }

    def sendAndReceive(socket: TLSSocket[F]): Stream[F, Byte] =
      Stream.exec(socket.write(message)).onFinalize(socket.endOfOutput) ++
        socket.reads.take(message.size.toLong)

    def withParameters(context: F[TLSContext[F]], parameters: TLSParameters)(
        socket: Socket[F]
    ): Resource[F, TLSSocket[F]] =
      Resource.eval(context).flatMap(_.clientBuilder(socket).withParameters(parameters).build)

    for protocol <- List("TLSv1.2", "TLSv1.3") do
      val connect = withParameters(trusted, TLSParameters(protocols = Some(List(protocol))))

      on(s"$protocol: the client writes before it reads"):
        echoed(trusted)(connect)(sendAndReceive).compile
          .to(Chunk)
          .map(assertEquals(_, message))

      on(s"$protocol: the client reads before it writes"):
        echoed(trusted)(connect)(socket =>
          socket.reads
            .take(message.size.toLong)
            .concurrently(Stream.sleep_[F](100.millis) ++ Stream.exec(socket.write(message)))
        ).compile
          .to(Chunk)
          .map(assertEquals(_, message))

    on("a server whose certificate is not trusted fails the handshake"):
      val system = backend.network.tlsContext.system
      echoed(system)(socket => Resource.eval(system).flatMap(_.client(socket)))(client =>
        sendAndReceive(client).mask
      ).compile.drain.attempt.map(result =>
        assert(result.left.exists(_.isInstanceOf[SSLHandshakeException]), result)
      )

    on("an insecure client does not verify the endpoint"):
      val parameters = TLSParameters(endpointIdentificationAlgorithm = Some("HTTPS"))
      val insecure = TLSContext.Builder.forAsync[F].insecure
      echoed(trusted)(withParameters(insecure, parameters))(sendAndReceive).compile
        .to(Chunk)
        .map(assertEquals(_, message))

    on("endOfOutput during the handshake ends both sides"):
      echoed(trusted)(raw =>
        Resource.eval(trusted).flatMap(_.client(CutSocket(raw, limitBytes = 10)))
      )(sendAndReceive).compile.drain

    on("a key store that is not there fails"):
      val contexts = backend.network.tlsContext
      val none = Array.empty[Char]
      for
        resource <- contexts.fromKeyStoreResource("none.jks", none, none).attempt
        file <- contexts.fromKeyStoreFile(Fs2Path("none.jks"), none, none).attempt
      yield
        assert(resource.left.exists(_.isInstanceOf[IOException]), resource)
        assert(file.left.exists(_.isInstanceOf[FileNotFoundException]), file)

    /** Ends its output after some bytes, and again with each later write. */
    final class CutSocket(raw: Socket[F], limitBytes: Int) extends Socket[F]:
      private var written = 0

      def write(bytes: Chunk[Byte]): F[Unit] =
        val some = bytes.take(limitBytes - written)
        val writes = raw.write(some) *> F.delay { written += some.size }
        writes.whenA(some.nonEmpty) *> endOfOutput.whenA(written + some.size >= limitBytes)
      def writes = _.chunks.foreach(write)

      def endOfInput = raw.endOfInput
      def endOfOutput = raw.endOfOutput
      def read(maxBytes: Int) = raw.read(maxBytes)
      def readN(numBytes: Int) = raw.readN(numBytes)
      def reads = raw.reads
      def address = raw.address
      def peerAddress = raw.peerAddress
      def supportedOptions = raw.supportedOptions
      def getOption[A](key: SocketOption.Key[A]) = raw.getOption(key)
      def setOption[A](key: SocketOption.Key[A], value: A) = raw.setOption(key, value)
      // deprecated
      def isOpen = F.pure(true)
      def localAddress = F.pure(raw.address.asIpUnsafe)
      def remoteAddress = F.pure(raw.peerAddress.asIpUnsafe)

private object TlsSuite:
  val password = "password"

  /** A key, and its certificate, signed by itself and trusted. */
  lazy val keys: KeyStore =
    val folder = Files.createTempDirectory("weir-tls")
    val file = folder.resolve("keys.p12")
    try
      generate(file)
      val store = KeyStore.getInstance(file.toFile, password.toCharArray)
      store.setCertificateEntry("ca", store.getCertificate("key"))
      store
    finally
      Files.deleteIfExists(file): Unit
      Files.delete(folder)

  /** By the tool of the JDK that runs the tests. */
  private def generate(file: Path): Unit =
    val keytool = Path.of(System.getProperty("java.home"), "bin", "keytool")
    val process = ProcessBuilder(
      keytool.toString,
      "-J-XX:TieredStopAtLevel=1",
      "-genkeypair",
      "-alias",
      "key",
      "-keyalg",
      "RSA",
      "-keysize",
      "2048",
      "-dname",
      "CN=localhost",
      "-ext",
      "SAN=DNS:localhost,IP:127.0.0.1",
      "-validity",
      "365",
      "-storetype",
      "PKCS12",
      "-keystore",
      file.toString,
      "-storepass",
      password
    ).redirectErrorStream(true).start()
    val output = String(process.getInputStream.readAllBytes())
    val ended = process.waitFor(60, TimeUnit.SECONDS)
    if !ended || process.exitValue != 0 then throw IOException(s"keytool failed: $output")
