package weir.postgres.protocol

import java.io.IOException
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.security.{
  GeneralSecurityException,
  KeyFactory,
  KeyStore,
  PrivateKey,
  PublicKey,
  Signature
}
import java.security.cert.{Certificate, CertificateFactory, X509Certificate}
import java.security.spec.{InvalidKeySpecException, PKCS8EncodedKeySpec}
import java.util.Base64
import javax.net.ssl.{KeyManager, KeyManagerFactory}
import scala.jdk.CollectionConverters.*

/** The certificate that a client shows, and its key, which must fit.
  *
  * The driver reads keys in the form `PRIVATE KEY` alone, and those of RSA alone. Servers' tools
  * write `RSA PRIVATE KEY` and `EC PRIVATE KEY` as well, which libpq reads.
  */
private[postgres] final class ClientIdentity private (
    chain: Vector[X509Certificate],
    key: PrivateKey
):
  def keyManagers: Array[KeyManager] =
    val store = KeyStore.getInstance("PKCS12")
    store.load(null, ClientIdentity.NoPassword)
    store.setKeyEntry("user", key, ClientIdentity.NoPassword, chain.toArray[Certificate])
    val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    factory.init(store, ClientIdentity.NoPassword)
    factory.getKeyManagers

private[postgres] object ClientIdentity:
  private val NoPassword = Array.emptyCharArray

  /** Returns the certificate and the key in these files; none if the key is encrypted or in a
    * PKCS#12 file, which the driver reads.
    *
    * **Fails** with an `IOException` if the two do not fit, or the key cannot be read.
    */
  def read(certificate: Path, keyFile: Path): Option[ClientIdentity] =
    try
      keyBytes(keyFile).map { (kind, bytes) =>
        org.postgresql.ssl.BaseX509KeyManager.validateKeyFilePermissions(keyFile)
        val chain = certificates(certificate)
        val own = chain.head.getPublicKey
        val key = keyOf(if kind == "PRIVATE KEY" then bytes else wrapped(bytes, own), own)
        if !key.exists(fits(_, own)) then
          throw IOException(s"the certificate $certificate does not fit the key $keyFile")
        ClientIdentity(chain, key.get)
      }
    catch
      case error: (GeneralSecurityException | java.sql.SQLException | IllegalArgumentException) =>
        throw IOException(s"the key $keyFile cannot be used: ${error.getMessage}", error)

  /** Returns the form of the key, and its bytes. */
  private def keyBytes(file: Path): Option[(String, Array[Byte])] =
    val all = Files.readAllBytes(file)
    val text = String(all, ISO_8859_1)
    Begin.findFirstMatchIn(text).map(_.group(1)) match
      case Some("ENCRYPTED PRIVATE KEY") => None
      case Some(kind) =>
        val begun = text.indexOf(s"-----BEGIN $kind-----") + s"-----BEGIN $kind-----".length
        val body = text.substring(begun, text.indexOf("-----END", begun) max begun)
        if body.contains("ENCRYPTED") then
          throw IOException(
            s"the key $file is encrypted in the old form of OpenSSL. Convert it: openssl pkcs8 " +
              s"-topk8 -in $file -out $file.pk8"
          )
        Some((kind, Base64.getMimeDecoder.decode(body)))
      case None => None

  private val Begin = "-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----".r

  /** Reads the certificates of a PEM file. */
  def certificates(file: Path): Vector[X509Certificate] =
    val in = Files.newInputStream(file)
    val all =
      try CertificateFactory.getInstance("X.509").generateCertificates(in).asScala.toVector
      finally in.close()
    if all.isEmpty then throw IOException(s"the file $file has no certificate")
    all.collect { case one: X509Certificate => one }

  private def keyOf(pkcs8: Array[Byte], own: PublicKey): Option[PrivateKey] =
    try Some(KeyFactory.getInstance(own.getAlgorithm).generatePrivate(PKCS8EncodedKeySpec(pkcs8)))
    catch case _: InvalidKeySpecException => None // of another algorithm

  private def fits(key: PrivateKey, own: PublicKey): Boolean =
    val algorithm = own.getAlgorithm match
      case "RSA" | "DSA" => s"SHA256with${own.getAlgorithm}"
      case "EC" => "SHA256withECDSA"
      case other => other
    val signed = "weir".getBytes(ISO_8859_1)
    val signer = Signature.getInstance(algorithm)
    signer.initSign(key)
    signer.update(signed)
    val signature = signer.sign()
    signer.initVerify(own)
    signer.update(signed)
    try signer.verify(signature)
    catch case _: java.security.SignatureException => false

  /** Returns a key of the older form as PKCS#8 has it: a version, the algorithm, and the older form
    * as a string of bytes. The algorithm, with its parameters, is written in the certificate's own
    * key.
    */
  private def wrapped(bytes: Array[Byte], own: PublicKey): Array[Byte] =
    val spki = own.getEncoded
    val from = 1 + lengthBytes(spki, 1)
    val (header, size) = (1 + lengthBytes(spki, from + 1), length(spki, from + 1))
    val algorithm = spki.slice(from, from + header + size)
    element(0x30, Array[Byte](2, 1, 0) ++ algorithm ++ element(0x04, bytes))

  private def element(tag: Int, content: Array[Byte]): Array[Byte] =
    val size = BigInt(content.length).toByteArray.dropWhile(_ == 0)
    val length =
      if content.length < 0x80 then Array(content.length.toByte)
      else (0x80 | size.length).toByte +: size
    tag.toByte +: (length ++ content)

  private def lengthBytes(der: Array[Byte], at: Int): Int =
    if der(at) >= 0 then 1 else 1 + (der(at) & 0x7f)

  private def length(der: Array[Byte], at: Int): Int =
    if der(at) >= 0 then der(at).toInt
    else (1 to (der(at) & 0x7f)).foldLeft(0)((sum, i) => sum << 8 | der(at + i) & 0xff)
