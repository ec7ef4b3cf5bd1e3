package weir.postgres

import java.util.TimeZone
import scala.concurrent.duration.*
import weir.{Task, Tier}
import weir.postgres.psql.CutProxy

/** Encryption changes nothing for scripts, and libpq's parameters for it keep their meaning. The
  * other suites run over TLS, too.
  */
class TlsSuite extends ServerSuite:
  private def ask(url: String)(question: String): String =
    ScriptConnection
      .open(url)
      .use(connection =>
        Task {
          val rows = connection.jdbc.createStatement().executeQuery(question)
          rows.next(): Unit
          rows.getString(1)
        }
      )
      .runSync()

  private def refused(url: String): ServerError =
    intercept[ServerError](ScriptConnection.open(url).use(_ => Task.unit).runSync())

  private val isEncrypted =
    "SELECT ssl || ' ' || coalesce(client_dn, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid()"

  test("a connection over TLS is watched, and it is one over TLS"):
    for mode <- List("allow", "prefer", "require", "verify-ca", "verify-full") do
      val url =
        server.at("postgres", s"sslmode=$mode&sslrootcert=${server.certificate.certificate}")
      val encrypts = mode != "allow"
      assertEquals(ask(url)(isEncrypted).trim, encrypts.toString, mode)
      assert(ScriptConnection.open(url).use(c => Task(c.isWatched)).runSync(), mode)

  test(
    "a certificate without a signer that the client trusts is refused, as is another name"
  ):
    val other = server.clientCertificate.certificate
    for mode <- List("require", "verify-ca", "verify-full") do
      val unknown = refused(server.at("postgres", s"sslmode=$mode&sslrootcert=$other"))
      assert(unknown.connectionLost && unknown.detail.exists(_.contains("path")), unknown.detail)
    val root = s"sslrootcert=${server.certificate.certificate}"
    val address =
      server.at("postgres", s"sslmode=verify-full&$root").replace("@localhost", "@127.0.0.1")
    assert(refused(address).detail.exists(_.contains("127.0.0.1")), refused(address).detail)
    assertEquals(ask(address.replace("verify-full", "verify-ca"))(isEncrypted).trim, "true")

  test("a file of certificates that cannot be read is named"):
    val error = refused(server.at("postgres", "sslmode=verify-ca&sslrootcert=/nowhere/root.crt"))
    assert(error.detail.exists(_.contains("/nowhere/root.crt")), error.detail)

  test("the client shows its certificate"):
    val own = server.clientCertificate
    val words = s"sslmode=require&sslkey=${own.keyStore}&sslpassword=${TestCertificate.Password}"
    assertEquals(ask(server.at("postgres", words))(isEncrypted), "true /CN=postgres")

  test("a client's key that cannot be read is an error"):
    val words = s"sslmode=require&sslkey=${server.clientCertificate.keyStore}&sslpassword=wrong"
    assert(refused(server.at("postgres", words)).connectionLost)

  test("the client's key may be in the form of PKCS#8 or in the older one"):
    val own = server.clientCertificate
    for key <- List(own.key, own.olderKey) do
      val words = s"sslmode=verify-full&sslrootcert=${server.certificate.certificate}" +
        s"&sslcert=${own.certificate}&sslkey=$key"
      assertEquals(ask(server.at("postgres", words))(isEncrypted), "true /CN=postgres", key)

  test("a key that does not fit its certificate is named, and so is the certificate"):
    val (own, other) = (server.clientCertificate.certificate, server.certificate.key)
    val error = refused(server.at("postgres", s"sslmode=require&sslcert=$own&sslkey=$other"))
    val problem = s"the certificate $own does not fit the key $other"
    assert(error.detail.exists(_.contains(problem)), error.detail)

  test("over a Unix domain socket nothing is encrypted, whatever is said about that"):
    for words <- List("sslmode=require", "sslmode=verify-full&sslnegotiation=direct") do
      val url = server.unix("postgres") + s"&$words&gssencmode=prefer"
      assertEquals(ask(url)(isEncrypted).trim, "false")

  test("a TLS factory of the user's own encrypts, unwatched"):
    val jdbc = server.jdbc("postgres").replace("sslmode=disable", "sslmode=require") +
      "&sslfactory=org.postgresql.ssl.NonValidatingFactory"
    assertEquals(ask(jdbc)(isEncrypted).trim, "true")
    assert(!ScriptConnection.open(jdbc).use(c => Task(c.isWatched)).runSync())

  over("the time zone and the date style are the server's, not the JVM's"): (database, url) =>
    server.admin("postgres") { admin =>
      server.execute(admin, s"ALTER DATABASE $database SET timezone = 'Asia/Kathmandu'")
      server.execute(admin, s"ALTER DATABASE $database SET datestyle = 'German'")
    }
    val known = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone("America/New_York"))
    try
      val script = "CREATE TABLE t AS SELECT current_setting('timezone') || ' ' || " +
        "current_setting('datestyle') || ' ' || date '2020-12-31' AS s;\n"
      val stream = () => java.io.ByteArrayInputStream(sql(script))
      ScriptConnection
        .open(url)
        .use(SqlScript.fromInputStream("s.sql")(stream()).applyTo(_))
        .runSync(): Unit
    finally TimeZone.setDefault(known)
    assertEquals(server.ask(database)("SELECT s FROM t"), "Asia/Kathmandu German, DMY 31.12.2020")

  test("a network that hangs does not hold up a cancel, over TLS"):
    val database = server.newDatabase()
    val proxy = CutProxy(server.port)
    try
      val url = server.tls(database).replace(s":${server.port}", s":${proxy.port}")
      ScriptConnection
        .open(url)
        .use { connection =>
          Task.direct {
            val session = Session.within(connection, _ => (), graceMillis = 300)
            session.run("CREATE TABLE t (i text)").await: Unit
            session.beginCopy(sql("COPY t FROM STDIN")).await
            proxy.stall()
            val data = new Array[Byte](24 << 20) // no system has buffers for that
            val writing = session.write(data, 0, data.length).start.await
            eventually("it writes")(proxy.keepsBytes)
            val (_, took) = timed(writing.cancel.timeout(20.seconds).runSync())
            assert(took < Tier(20.seconds, 5.seconds), took)
            assert(session.connectionLost)
          }
        }
        .runSync()
    finally proxy.close()
