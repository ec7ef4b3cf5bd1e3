package weir
package io

import java.nio.file.{Files, Path}
import java.security.KeyStore
import javax.net.ssl.{KeyManager, KeyManagerFactory, SSLContext, TrustManager, TrustManagerFactory}

/** Contexts of TLS, with certificates that the JDK's keytool signs. */
object TlsContexts:
  private val password = "changeit".toCharArray

  /** For `localhost`, and trusts itself. */
  lazy val local: SSLContext = context(keys(store), trust(store))

  /** Trusts that certificate. */
  def trust: Array[TrustManager] = trust(store)

  /** Trusts that certificate, and has none. */
  lazy val trusting: SSLContext = context(null, trust(store))

  /** For `localhost` too, with another certificate, and trusts only that. */
  lazy val other: SSLContext = context(keys(otherStore), trust(otherStore))

  /** Trusts only the other certificate, and has none. */
  lazy val stranger: SSLContext = context(null, trust(otherStore))

  private lazy val store = keyStore()
  private lazy val otherStore = keyStore()

  private def context(
      keys: Array[KeyManager] | Null,
      trust: Array[TrustManager]
  ): SSLContext =
    val made = SSLContext.getInstance("TLS")
    made.init(keys, trust, null)
    made

  private def keys(store: KeyStore): Array[KeyManager] =
    val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    factory.init(store, password)
    factory.getKeyManagers

  private def trust(store: KeyStore): Array[TrustManager] =
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    factory.init(store)
    factory.getTrustManagers

  /** Returns a store with a key and a certificate for `localhost`, which the key signs. */
  private def keyStore(): KeyStore =
    val file = Files.createTempDirectory("weir-tls").resolve("keys.p12")
    val tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString
    val process = ProcessBuilder(
      (s"$tool -J-XX:TieredStopAtLevel=1 -genkeypair -alias local -keyalg EC -dname CN=localhost " +
        s"-ext SAN=DNS:localhost -validity 2 -storetype PKCS12 -storepass ${String(password)} " +
        s"-keystore $file").split(' ')*
    ).redirectErrorStream(true).start()
    val output = String(process.getInputStream.readAllBytes())
    assert(process.waitFor() == 0, output)
    val store = KeyStore.getInstance(file.toFile, password)
    // A certificate that is trusted stands by itself, without a key.
    store.setCertificateEntry("trusted", store.getCertificate("local"))
    store
