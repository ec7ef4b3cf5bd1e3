package weir.postgres

import java.nio.file.Path

class PostgresUrlSuite extends munit.FunSuite:
  private val me = System.getProperty("user.name")

  private def parse(text: String, environment: (String, String)*): PostgresUrl =
    PostgresUrl.parse(text, environment.toMap)

  private def refused(text: String): String =
    val message = intercept[IllegalArgumentException](parse(text)).getMessage
    assert(!message.contains("secret"), message)
    message

  test("an address says who, where, and how"):
    val url =
      parse("postgresql://me:se%40cret@db.example:6543/my%20shop?sslmode=require&connect_timeout=3")
    assertEquals(url.jdbc, "jdbc:postgresql://db.example:6543/my%20shop")
    assertEquals((url.user, url.password, url.socketFile), (Some("me"), Some("se@cret"), None))
    assertEquals(url.properties, Map("sslmode" -> "require", "connectTimeout" -> "3"))
    assert(!url.toString.contains("se@cret") && !url.toString.contains("se%40cret"), url)

  test("a folder as the host is a Unix domain socket"):
    for text <- List(
        "postgresql://me@/shop?host=/run/pg&port=6543",
        "postgresql://me@%2Frun%2Fpg:6543/shop",
        "postgres:///shop?host=/run/pg&port=6543&user=me",
        "host=/run/pg port=6543 dbname=shop user=me"
      )
    do
      val url = parse(text)
      assertEquals(url.socketFile, Some(Path.of("/run/pg/.s.PGSQL.6543")), text)
      assertEquals(
        (url.jdbc, url.user),
        ("jdbc:postgresql://localhost:6543/shop", Some("me")),
        text
      )

  test("what is not said comes from the environment, then is as psql has it"):
    val env = List(
      "PGHOST" -> "h",
      "PGPORT" -> "7",
      "PGUSER" -> "u",
      "PGDATABASE" -> "d",
      "PGPASSWORD" -> "p",
      "PGSSLMODE" -> "disable"
    )
    val all = parse("", env*)
    assertEquals(
      (all.jdbc, all.user, all.password),
      ("jdbc:postgresql://h:7/d", Some("u"), Some("p"))
    )
    assertEquals(all.properties, Map("sslmode" -> "disable"))
    assertEquals(parse("shop", env*).jdbc, "jdbc:postgresql://h:7/shop")
    assertEquals(parse("postgresql://x@y/z", env*).user, Some("x"))
    assertEquals(parse("", "PGHOST" -> "h").jdbc, s"jdbc:postgresql://h:5432/$me")
    assertEquals(parse("", "PGHOST" -> "h", "PGUSER" -> "u").jdbc, "jdbc:postgresql://h:5432/u")

  test("psql's variables for the driver, and for what the session begins with"):
    val url = parse(
      "postgresql://h/d?application_name=mine",
      "PGAPPNAME" -> "other",
      "PGCONNECT_TIMEOUT" -> "3",
      "PGOPTIONS" -> "-c work_mem=8MB",
      "PGCHANNELBINDING" -> "require",
      "PGTARGETSESSIONATTRS" -> "read-write",
      "PGTZ" -> "Asia/Kathmandu",
      "PGDATESTYLE" -> "German",
      "PGGEQO" -> "default",
      "PGCLIENTENCODING" -> "LATIN1"
    )
    assertEquals(
      url.properties,
      Map(
        "ApplicationName" -> "mine",
        "connectTimeout" -> "3",
        "options" -> "-c work_mem=8MB",
        "channelBinding" -> "require",
        "targetServerType" -> "primary"
      )
    )
    assertEquals(
      url.settings,
      Map(
        "TimeZone" -> "Asia/Kathmandu",
        "DateStyle" -> "German",
        "client_encoding" -> "LATIN1"
      )
    )
    val own = parse("host=h client_encoding=UTF8", "PGCLIENTENCODING" -> "LATIN1", "PGTZ" -> "")
    assertEquals(own.settings, Map("client_encoding" -> "UTF8"))
    assertEquals(parse("host=h", "PGCLIENTENCODING" -> "auto").settings, Map.empty[String, String])

  test(
    "a variable whose silence would make a connection less safe is refused, and so is an encoding"
  ):
    def message(url: String, environment: (String, String)) =
      intercept[IllegalArgumentException](parse(url, environment)).getMessage
    val (tcp, unix) = ("postgresql://h/d", "postgresql:///d?host=/run/pg")
    assert(message(unix, "PGREQUIREPEER" -> "postgres").contains("PGREQUIREPEER is postgres"))
    assert(message(tcp, "PGSSLCRL" -> "/x").contains("PGSSLCRL is /x"))
    assert(message(tcp, "PGSSLMINPROTOCOLVERSION" -> "TLSv1.3").contains("TLSv1.3"))
    assert(message(tcp, "PGCLIENTENCODING" -> "MULE_INTERNAL").contains("MULE_INTERNAL is not"))
    parse(tcp, "PGREQUIREPEER" -> "postgres"): Unit
    parse(tcp, "PGSSLMINPROTOCOLVERSION" -> "TLSv1.2"): Unit
    parse(unix, "PGSSLCRL" -> "/x"): Unit

  test("require looks at the certificate where there is one to trust, as libpq does"):
    val file = java.nio.file.Files.createTempFile("weir-root", ".crt")
    def mode(words: String) = parse(s"postgresql://h/d?$words").properties("sslmode")
    try
      assertEquals(mode(s"sslmode=require&sslrootcert=$file"), "verify-ca")
      assertEquals(mode(s"sslmode=prefer&sslrootcert=$file"), "prefer")
      assertEquals(mode(s"sslmode=require&sslrootcert=$file.none"), "require")
    finally java.nio.file.Files.delete(file)

  test("a service is what its file says, behind the address and before the environment"):
    val file = java.nio.file.Files.createTempFile("weir-service", ".conf")
    try
      java.nio.file.Files.writeString(
        file,
        "# mine\n[other]\nhost=o\n\n[shop]\nhost=s\nport=7\n#x\nuser=u\n\n[last]\nhost=l\n"
      ): Unit
      val env = List("PGSERVICEFILE" -> s"$file", "PGPORT" -> "8", "PGDATABASE" -> "d")
      val url = parse("postgresql://me@/", ("PGSERVICE" -> "shop") :: env*)
      assertEquals((url.jdbc, url.user), ("jdbc:postgresql://s:7/d", Some("me")))
      assertEquals(parse("service=last", env*).jdbc, "jdbc:postgresql://l:8/d")
      val none = intercept[IllegalArgumentException](parse("service=none", env*)).getMessage
      assert(none.contains("the service none is not in") && none.contains(s"$file"), none)
    finally java.nio.file.Files.delete(file)

  test("of a service's lines for one name the first counts, and spaces are a part of the value"):
    val file = java.nio.file.Files.createTempFile("weir-service", ".conf")
    def written(lines: String*) =
      java.nio.file.Files.writeString(file, ("[shop]" +: lines).mkString("\n")): Unit
      parse("service=shop", "PGSERVICEFILE" -> s"$file")
    try
      val first = written("host=first", "host=second", "dbname=d", "user=u", "password= a b ")
      assertEquals(
        (first.jdbc, first.password),
        ("jdbc:postgresql://first:5432/d", Some(" a b"))
      )
      val refused = intercept[IllegalArgumentException](written("host = h")).getMessage
      assert(refused.contains(s"the file $file has a space"), refused)
      assert(refused.contains("Write host=VALUE."), refused)
    finally java.nio.file.Files.delete(file)

  test("a jdbc: address is the driver's as it is"):
    val url =
      parse("jdbc:postgresql://h/d?user=a&password=secret", "PGUSER" -> "b", "PGPASSWORD" -> "p")
    assertEquals(url.jdbc, "jdbc:postgresql://h/d?user=a&password=secret")
    assertEquals((url.user, url.password), (None, None))
    assertEquals(url.toString, "jdbc:postgresql://h/d")
    assertEquals(parse("jdbc:postgresql://h/d", "PGUSER" -> "b").user, Some("b"))

  test("several hosts, IPv6, quoted words"):
    assertEquals(parse("postgresql://a:1,b:2/d").jdbc, "jdbc:postgresql://a:1,b:2/d")
    assertEquals(parse("postgresql://a,b/d?port=7").jdbc, "jdbc:postgresql://a:7,b:7/d")
    assertEquals(parse("postgresql://[::1]:7/d").jdbc, "jdbc:postgresql://[::1]:7/d")
    val url = parse("host=h dbname = 'my \\'shop\\\\' password=se\\ cret")
    assertEquals(
      (url.jdbc, url.password),
      ("jdbc:postgresql://h:5432/my%20%27shop%5C", Some("se cret"))
    )

  test("hostaddr is where to connect to, and host what it is called"):
    val both = parse("host=db.example hostaddr=192.0.2.7 port=6543 dbname=d user=u")
    assertEquals(both.jdbc, "jdbc:postgresql://db.example:6543/d")
    assertEquals(both.addresses, Map(("db.example", 6543) -> Vector(ip("192.0.2.7"))))
    val several = parse("host=a,b,b hostaddr=192.0.2.1,,::2 dbname=d user=u")
    assertEquals(several.jdbc, "jdbc:postgresql://a:5432,b:5432,b:5432/d")
    assertEquals(
      several.addresses,
      Map(("a", 5432) -> Vector(ip("192.0.2.1")), ("b", 5432) -> Vector(ip("::2")))
    )
    assertEquals(parse("hostaddr=192.0.2.7 dbname=d").jdbc, "jdbc:postgresql://192.0.2.7:5432/d")
    assertEquals(parse("hostaddr=::1 dbname=d").jdbc, "jdbc:postgresql://[0:0:0:0:0:0:0:1]:5432/d")
    assertEquals(parse("host=/run/pg hostaddr=192.0.2.7 dbname=d").socketFile, None)
    assertEquals(
      parse("host=db.example dbname=d", "PGHOSTADDR" -> "192.0.2.7").addresses.values.toList,
      List(Vector(ip("192.0.2.7")))
    )
    assert(refused("host=a,b hostaddr=192.0.2.7").contains("2 hosts and 1 addresses"))
    assert(refused("host=a hostaddr=db.example").contains("hostaddr is db.example"))

  private def ip(text: String) = java.net.InetAddress.ofLiteral(text)

  test("the password file is libpq's, and is refused if others may read it"):
    import java.nio.file.Files
    import java.nio.file.attribute.PosixFilePermissions.fromString
    val file = Files.createTempFile("weir-pgpass", "")
    def password(words: String) = parse(words, "PGPASSFILE" -> s"$file").password
    try
      Files.writeString(
        file,
        "# all:*:*:*:no\nh:5432:d:u:one\nh:*:d:*:two\\:\\\\\n" +
          "/run/pg:5432:*:*:four\nlocalhost:5432:s:*:five\n" +
          "six:*:*:*:end:of it\nseven:*:*:*:\\a\\\neight:*:*:*\n"
      ): Unit
      Files.setPosixFilePermissions(file, fromString("rw-------")): Unit
      assertEquals(password("host=h dbname=d user=u"), Some("one"))
      assertEquals(password("host=h dbname=d user=v"), Some("two:\\"))
      assertEquals(password("host=h dbname=d user=u password=own"), Some("own"))
      assertEquals(password("host=h hostaddr=192.0.2.1 dbname=d user=u"), Some("one"))
      assertEquals(password("host=/run/pg dbname=d user=u"), Some("four"))
      assertEquals(password("host=/run/other dbname=s user=u"), Some("five"))
      assertEquals(password("host=six dbname=d user=u"), Some("end"))
      assertEquals(password("host=seven dbname=d user=u"), Some("a\\"))
      assertEquals(password("host=eight dbname=d user=u"), None)
      assertEquals(password("host=other dbname=d user=u"), None)
      for mode <- List("rw-r-----", "rw----r--", "rw--w----") do
        Files.setPosixFilePermissions(file, fromString(mode)): Unit
        val error = intercept[IllegalArgumentException](password("host=h dbname=d user=u"))
        assert(error.getMessage.contains(s"the password file $file,"), error.getMessage)
        assertEquals(password("host=other dbname=d user=u"), None)
        assertEquals(password("host=h dbname=d user=u password=own"), Some("own"))
    finally Files.delete(file)

  test("the user's files are those of HOME, as for libpq"):
    import java.nio.file.Files
    import java.nio.file.attribute.PosixFilePermissions.fromString
    val home = Files.createTempDirectory("weir-home")
    val (passwords, services) = (home.resolve(".pgpass"), home.resolve(".pg_service.conf"))
    val own = Files.createDirectory(home.resolve(".postgresql"))
    def words(names: String*) = names.map(name => own.resolve(name).toString)
    def properties(text: String) = parse(text, "HOME" -> s"$home").properties
    try
      Files.writeString(passwords, "h:5432:d:u:one\n"): Unit
      Files.setPosixFilePermissions(passwords, fromString("rw-------")): Unit
      Files.writeString(services, "[shop]\nhost=h\n"): Unit
      val url = parse("service=shop dbname=d user=u", "HOME" -> s"$home")
      assertEquals(url.jdbc, "jdbc:postgresql://h:5432/d")
      assertEquals(url.password, Some("one"))
      val Seq(root, certificate, key) =
        words("root.crt", "postgresql.crt", "postgresql.key"): @unchecked
      val none = Map("sslcert" -> "", "sslkey" -> "")
      assertEquals(properties("host=h"), none)
      val verified = Map("sslmode" -> "verify-ca", "sslrootcert" -> root)
      assertEquals(properties("host=h sslmode=verify-ca"), none ++ verified)
      for file <- List(root, certificate, key) do Files.createFile(Path.of(file)): Unit
      assertEquals(
        properties("host=h sslmode=require"),
        verified ++ Map("sslcert" -> certificate, "sslkey" -> key)
      )
      assertEquals(properties("host=h sslcert=x sslkey=y"), Map("sslcert" -> "x", "sslkey" -> "y"))
    finally
      (own.toFile.listFiles().map(_.toPath) ++ List(own, passwords, services, home))
        .foreach(Files.deleteIfExists(_): Unit)

  test("what cannot be understood is refused without the password"):
    assert(refused("postgresql://me:secret@h/d?colour=red").contains("colour"))
    assert(refused("postgresql://me:secret@h:x/d").contains("port was x"))
    assert(refused("postgresql://me:secret%@h/d").contains("%25"))
    assert(refused("jdbc:mysql://me:secret@h/d").contains("jdbc:postgresql:"))
    assert(refused("host=h 'secret").contains("name=value"))
    assert(refused("postgresql://a:1,b:2,c:3/d?port=1,2").contains("3 hosts and 2 ports"))
