package weir.postgres.protocol

import java.io.IOException
import java.nio.file.{Files, Path}
import weir.postgres.{TestCertificate, TestServer}

class ClientIdentitySuite extends munit.FunSuite:
  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("weir-identity"),
    folder =>
      folder.toFile.listFiles().foreach(_.delete(): Unit)
      Files.delete(folder)
  )

  private def problem(certificate: Path, key: Path): String =
    intercept[IOException](ClientIdentity.read(certificate, key)).getMessage

  folder.test("a key of RSA is read in both forms, and must fit its certificate"): folder =>
    val rsa = TestCertificate.make(folder, "rsa", None, "RSA")
    for key <- List(rsa.key, rsa.olderKey) do
      assertEquals(ClientIdentity.read(rsa.certificate, key).map(_.keyManagers.length), Some(1))
    val other = TestServer.clientCertificate
    for key <- List(other.key, other.olderKey) do
      val expected = s"the certificate ${rsa.certificate} does not fit the key $key"
      assertEquals(problem(rsa.certificate, key), expected)
    val encrypted = folder.resolve("encrypted.key")
    val text = Files.readString(rsa.olderKey)
    val mark = "-----BEGIN RSA PRIVATE KEY-----\n"
    Files.writeString(encrypted, text.replace(mark, s"${mark}Proc-Type: 4,ENCRYPTED\n\n")): Unit
    encrypted.toFile.setReadable(false, false): Unit
    encrypted.toFile.setReadable(true, true): Unit
    assert(clue(problem(rsa.certificate, encrypted)).contains("openssl pkcs8 -topk8"))
    // The driver reads these.
    assert(ClientIdentity.read(rsa.certificate, rsa.keyStore).isEmpty)
