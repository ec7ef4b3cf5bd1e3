package weir.postgres.protocol

import java.net.Socket
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.util.Properties
import javax.net.ssl.{SSLContext, SSLSocket, TrustManager, TrustManagerFactory}
import org.postgresql.PGProperty
import org.postgresql.jdbc.SslMode
import org.postgresql.ssl.LibPQFactory
import org.postgresql.ssl.NonValidatingFactory.NonValidatingTM

/** Encrypts the socket of one connection as pgjdbc does, which knows what libpq's `sslmode`,
  * `sslrootcert`, `sslcert` and `sslkey` mean, and watches its plain text.
  *
  * The driver makes it, by name, with its properties, among them the key of the connection that is
  * being opened. It must be a `LibPQFactory`: after the handshake the driver asks a factory of that
  * class whether the client's key could be read.
  */
final class WatchedTlsFactory(properties: Properties) extends LibPQFactory(properties):
  private val key = PGProperty.SOCKET_FACTORY_ARG.getOrDefault(properties)

  override def createSocket(under: Socket, host: String, port: Int, autoClose: Boolean): Socket =
    for identity <- identity do factory = context(identity).getSocketFactory
    val tls = super.createSocket(under, host, port, autoClose)
    WatchedSocketFactory.tlsSocket(key, under, tls.asInstanceOf[SSLSocket])

  /** The certificate and the key that the driver would not read, or not compare. */
  private def identity: Option[ClientIdentity] =
    for
      certificate <- file(PGProperty.SSL_CERT)
      key <- file(PGProperty.SSL_KEY)
      identity <- ClientIdentity.read(certificate, key)
    yield identity

  private def file(property: PGProperty): Option[Path] =
    Option(property.getOrDefault(properties))
      .filter(_.nonEmpty)
      .map(Path.of(_))
      .filter(Files.isRegularFile(_))

  /** Trusts what the driver would. */
  private def context(identity: ClientIdentity): SSLContext =
    val context = SSLContext.getInstance("TLS")
    context.init(identity.keyManagers, trusted, null)
    context

  private def trusted: Array[TrustManager] =
    if !SslMode.of(properties).verifyCertificate then Array(NonValidatingTM())
    else
      val usual = Path.of(System.getProperty("user.home"), ".postgresql", "root.crt")
      val roots = ClientIdentity.certificates(file(PGProperty.SSL_ROOT_CERT).getOrElse(usual))
      val store = KeyStore.getInstance(KeyStore.getDefaultType)
      store.load(null, null)
      for (root, i) <- roots.zipWithIndex do store.setCertificateEntry(s"root$i", root)
      val factory = TrustManagerFactory.getInstance("PKIX")
      factory.init(store)
      factory.getTrustManagers
