package weir.postgres.protocol

import java.net.Socket
import java.util.Properties
import javax.net.ssl.SSLSocket
import org.postgresql.PGProperty
import org.postgresql.ssl.LibPQFactory

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
    val tls = super.createSocket(under, host, port, autoClose)
    WatchedSocketFactory.tlsSocket(key, under, tls.asInstanceOf[SSLSocket])
