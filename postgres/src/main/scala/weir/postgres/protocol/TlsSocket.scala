package weir.postgres.protocol

import java.io.{InputStream, OutputStream}
import java.net.{InetAddress, Socket, SocketAddress}
import java.util.function.BiFunction
import javax.net.ssl.{HandshakeCompletedListener, SSLParameters, SSLSession, SSLSocket}

/** A TLS connection, watched where it is plain text: between the driver and the JDK's `tls`, which
  * encrypts.
  *
  * @param under
  *   the socket that `tls` sends its bytes through
  */
private[postgres] final class TlsSocket(
    under: Socket,
    tls: SSLSocket,
    notice: Array[Byte] => Unit,
    startup: StartupPacket
) extends SSLSocket,
      WatchedSocket:
  // Not before the handshake, until which there are no streams.
  lazy val input: WatchedInput = WatchedInput(tls.getInputStream, () => getSoTimeout, notice)
  lazy val output: WatchedOutput =
    WatchedOutput(tls.getOutputStream, input.messages, startup, () => readLastMessage())

  override def getInputStream: InputStream = input
  override def getOutputStream: OutputStream = output

  /** Closing `tls` would send a close_notify, which waits for a thread that is writing. */
  override def abort(): Unit = under.close()
  override def close(): Unit = tls.close()
  override def isClosed: Boolean = tls.isClosed

  // Methods of encryption.
  override def startHandshake(): Unit = tls.startHandshake()
  override def getSession: SSLSession = tls.getSession
  override def getHandshakeSession: SSLSession | Null = tls.getHandshakeSession
  override def addHandshakeCompletedListener(listener: HandshakeCompletedListener): Unit =
    tls.addHandshakeCompletedListener(listener)
  override def removeHandshakeCompletedListener(listener: HandshakeCompletedListener): Unit =
    tls.removeHandshakeCompletedListener(listener)
  override def getSSLParameters: SSLParameters = tls.getSSLParameters
  override def setSSLParameters(parameters: SSLParameters): Unit = tls.setSSLParameters(parameters)
  override def getSupportedCipherSuites: Array[String] = tls.getSupportedCipherSuites
  override def getEnabledCipherSuites: Array[String] = tls.getEnabledCipherSuites
  override def setEnabledCipherSuites(suites: Array[String]): Unit =
    tls.setEnabledCipherSuites(suites)
  override def getSupportedProtocols: Array[String] = tls.getSupportedProtocols
  override def getEnabledProtocols: Array[String] = tls.getEnabledProtocols
  override def setEnabledProtocols(protocols: Array[String]): Unit =
    tls.setEnabledProtocols(protocols)
  override def getApplicationProtocol: String | Null = tls.getApplicationProtocol
  override def getHandshakeApplicationProtocol: String | Null = tls.getHandshakeApplicationProtocol
  override def setHandshakeApplicationProtocolSelector(
      selector: BiFunction[SSLSocket, java.util.List[String], String]
  ): Unit = tls.setHandshakeApplicationProtocolSelector(selector)
  override def getHandshakeApplicationProtocolSelector
      : BiFunction[SSLSocket, java.util.List[String], String] | Null =
    tls.getHandshakeApplicationProtocolSelector
  override def getUseClientMode: Boolean = tls.getUseClientMode
  override def setUseClientMode(on: Boolean): Unit = tls.setUseClientMode(on)
  override def getNeedClientAuth: Boolean = tls.getNeedClientAuth
  override def setNeedClientAuth(on: Boolean): Unit = tls.setNeedClientAuth(on)
  override def getWantClientAuth: Boolean = tls.getWantClientAuth
  override def setWantClientAuth(on: Boolean): Unit = tls.setWantClientAuth(on)
  override def getEnableSessionCreation: Boolean = tls.getEnableSessionCreation
  override def setEnableSessionCreation(on: Boolean): Unit = tls.setEnableSessionCreation(on)

  // Methods of every socket.
  override def connect(address: SocketAddress): Unit = tls.connect(address)
  override def connect(address: SocketAddress, timeoutMillis: Int): Unit =
    tls.connect(address, timeoutMillis)
  override def bind(address: SocketAddress | Null): Unit = tls.bind(address)
  override def isConnected: Boolean = tls.isConnected
  override def isBound: Boolean = tls.isBound
  override def shutdownInput(): Unit = tls.shutdownInput()
  override def shutdownOutput(): Unit = tls.shutdownOutput()
  override def isInputShutdown: Boolean = tls.isInputShutdown
  override def isOutputShutdown: Boolean = tls.isOutputShutdown
  override def setSoTimeout(millis: Int): Unit = tls.setSoTimeout(millis)
  override def getSoTimeout: Int = tls.getSoTimeout
  override def setTcpNoDelay(on: Boolean): Unit = tls.setTcpNoDelay(on)
  override def getTcpNoDelay: Boolean = tls.getTcpNoDelay
  override def setKeepAlive(on: Boolean): Unit = tls.setKeepAlive(on)
  override def getKeepAlive: Boolean = tls.getKeepAlive
  override def setSendBufferSize(bytes: Int): Unit = tls.setSendBufferSize(bytes)
  override def getSendBufferSize: Int = tls.getSendBufferSize
  override def setReceiveBufferSize(bytes: Int): Unit = tls.setReceiveBufferSize(bytes)
  override def getReceiveBufferSize: Int = tls.getReceiveBufferSize
  override def setSoLinger(on: Boolean, seconds: Int): Unit = tls.setSoLinger(on, seconds)
  override def getSoLinger: Int = tls.getSoLinger
  override def setTrafficClass(value: Int): Unit = tls.setTrafficClass(value)
  override def getTrafficClass: Int = tls.getTrafficClass
  override def setReuseAddress(on: Boolean): Unit = tls.setReuseAddress(on)
  override def getReuseAddress: Boolean = tls.getReuseAddress
  override def getInetAddress: InetAddress | Null = tls.getInetAddress
  override def getLocalAddress: InetAddress | Null = tls.getLocalAddress
  override def getPort: Int = tls.getPort
  override def getLocalPort: Int = tls.getLocalPort
  override def getRemoteSocketAddress: SocketAddress | Null = tls.getRemoteSocketAddress
  override def getLocalSocketAddress: SocketAddress | Null = tls.getLocalSocketAddress
  override def toString: String = s"TlsSocket($tls)"
