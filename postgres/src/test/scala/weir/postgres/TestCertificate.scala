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
  val certificate: Path = folder.resolve(s"$name.crt")

  /** Both, under `TestCertificate.Password` and the name that the driver looks for. */
  val keyStore: Path = folder.resolve(s"$name.p12")

object TestCertificate:
  val Password = "changeit"

  /** @param alternatives
    *   the names and addresses for which it holds, as keytool writes them:
    *   `dns:localhost,ip:127.0.0.1`
    */
  def make(folder: Path, name: String, alternatives: Option[String]): TestCertificate =
    val made = TestCertificate(folder, name)
    val tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString
    val command =
      List(tool, "-genkeypair", "-alias", Alias, "-dname", s"CN=$name", "-keyalg", "EC") ++
        List("-validity", "30", "-storetype", "PKCS12", "-keystore", made.keyStore.toString) ++
        List("-storepass", Password) ++ alternatives.toList.flatMap(a => List("-ext", s"SAN=$a"))
    val process = ProcessBuilder(command*).redirectErrorStream(true).start()
    val said = String(process.getInputStream.readAllBytes())
    assert(process.waitFor(30, TimeUnit.SECONDS) && process.exitValue == 0, said)
    val store = KeyStore.getInstance(made.keyStore.toFile, Password.toCharArray)
    val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    Files.createFile(made.key, owner): Unit
    val key = store.getKey(Alias, Password.toCharArray).getEncoded
    Files.write(made.key, pem("PRIVATE KEY", key)): Unit
    Files.write(made.certificate, pem("CERTIFICATE", store.getCertificate(Alias).getEncoded)): Unit
    made

  private val Alias = "user"

  private def pem(kind: String, bytes: Array[Byte]): Array[Byte] =
    val text = Base64.getMimeEncoder(64, Array('\n'.toByte)).encodeToString(bytes)
    s"-----BEGIN $kind-----\n$text\n-----END $kind-----\n".getBytes(US_ASCII)
