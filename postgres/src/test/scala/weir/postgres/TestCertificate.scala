package weir.postgres

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions
import java.security.KeyStore
import java.util.Base64
import java.util.concurrent.TimeUnit

/** A key and a certificate that it has signed itself, made by the JDK's `keytool`, as files that
  * Postgres and the driver read.
  *
  * @param folder
  *   in which they are, `NAME.key` (which only its owner may read), `NAME.crt` and `NAME.p12`
  */
final class TestCertificate private (folder: Path, name: String):
  val key: Path = folder.resolve(s"$name.key")

  /** The key in the form of OpenSSL before 3: `EC PRIVATE KEY` or `RSA PRIVATE KEY`. */
  val olderKey: Path = folder.resolve(s"$name.older.key")
  val certificate: Path = folder.resolve(s"$name.crt")

  /** Both, under `TestCertificate.Password` and the name that the driver looks for. */
  val keyStore: Path = folder.resolve(s"$name.p12")

object TestCertificate:
  val Password = "changeit"

  /** @param alternatives
    *   the names and addresses for which it holds, as keytool writes them:
    *   `dns:localhost,ip:127.0.0.1`
    */
  def make(
      folder: Path,
      name: String,
      alternatives: Option[String],
      algorithm: String = "EC"
  ): TestCertificate =
    val made = TestCertificate(folder, name)
    val tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString
    val command =
      List(tool, "-J-XX:TieredStopAtLevel=1", "-genkeypair", "-alias", Alias) ++
        List("-dname", s"CN=$name", "-keyalg", algorithm) ++
        List("-validity", "30", "-storetype", "PKCS12", "-keystore", made.keyStore.toString) ++
        List("-storepass", Password) ++ alternatives.toList.flatMap(a => List("-ext", s"SAN=$a"))
    val process = ProcessBuilder(command*).redirectErrorStream(true).start()
    val said = String(process.getInputStream.readAllBytes())
    assert(process.waitFor(30, TimeUnit.SECONDS) && process.exitValue == 0, said)
    val store = KeyStore.getInstance(made.keyStore.toFile, Password.toCharArray)
    val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    val key = store.getKey(Alias, Password.toCharArray).getEncoded
    for (file, kind, bytes) <- List(
        (made.key, "PRIVATE KEY", key),
        (made.olderKey, s"$algorithm PRIVATE KEY", older(key))
      )
    do
      Files.createFile(file, owner): Unit
      Files.write(file, pem(kind, bytes)): Unit
    Files.write(made.certificate, pem("CERTIFICATE", store.getCertificate(Alias).getEncoded)): Unit
    made

  private val Alias = "user"

  /** The third part of what PKCS#8 has: behind a version and the algorithm. */
  private def older(pkcs8: Array[Byte]): Array[Byte] =
    def size(at: Int) =
      if pkcs8(at) >= 0 then (1, pkcs8(at).toInt)
      else
        val bytes = pkcs8.slice(at + 1, at + 1 + (pkcs8(at) & 0x7f))
        (1 + bytes.length, BigInt(1, bytes).toInt)
    def content(at: Int) = at + 1 + size(at + 1)._1
    def after(at: Int) = content(at) + size(at + 1)._2
    pkcs8.drop(content(after(after(content(0)))))

  private def pem(kind: String, bytes: Array[Byte]): Array[Byte] =
    val text = Base64.getMimeEncoder(64, Array('\n'.toByte)).encodeToString(bytes)
    s"-----BEGIN $kind-----\n$text\n-----END $kind-----\n".getBytes(US_ASCII)
