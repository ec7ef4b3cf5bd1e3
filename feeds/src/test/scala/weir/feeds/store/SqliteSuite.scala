package weir.feeds.store

import java.nio.file.{Files, Path}
import java.sql.DriverManager
import java.util.Comparator

import munit.FunSuite

import weir.program.{BadInput, TempFolder}

class SqliteSuite
    extends FunSuite
    with StoreFacts
    with ChangedItemFacts
    with ReaderFacts
    with GivenAddressFacts
    with LeaseFacts
    with EditFacts
    with OutboxFacts
    with HostHoldFacts
    with TempFolder:
  def withDatabase(body: Database => Unit): Unit =
    val folder = Files.createTempDirectory("weir-sqlite")
    try body(Sqlite.at(folder.resolve("feeds.db").toString))
    finally Files.walk(folder).sorted(Comparator.reverseOrder).forEach(Files.delete)

  def withVersion1(items: Seq[Item])(body: Database => Unit): Unit = withDatabase: database =>
    val connection = DriverManager.getConnection(s"jdbc:sqlite:${database.name}")
    Version1.create(connection, "INTEGER PRIMARY KEY", items)
    Sql.execute(connection, s"PRAGMA application_id = ${0x57656972}")
    Sql.execute(connection, "PRAGMA user_version = 1")
    connection.close()
    body(database)

  /** The file that the program itself made. */
  private def withStored(name: String)(body: Database => Unit): Unit = withDatabase: database =>
    val made = getClass.getResourceAsStream(s"/weir/feeds/store/$name.db")
    try Files.copy(made, Path.of(database.name)): Unit
    finally made.close()
    body(database)

  def withVersion3(body: Database => Unit): Unit = withStored("version3")(body)

  def withVersion4(body: Database => Unit): Unit = withStored("version4")(body)

  private def refused(file: Path): String =
    val before = Option.when(Files.isRegularFile(file))(Files.readAllBytes(file).toVector)
    val listed = Files.list(file.getParent).toList
    val bad = intercept[BadInput](FeedStore.open(Database.of(file.toString)))
    before.foreach(bytes => assertEquals(Files.readAllBytes(file).toVector, bytes))
    assertEquals(Files.list(file.getParent).toList, listed)
    bad.getMessage

  folder.test("a file that is no database is refused and not changed"): folder =>
    assert(refused(write(folder, "notes.txt", "dear diary " * 50)).contains("not an SQLite"))
    assert(refused(write(folder, "short.txt", "x")).contains("not an SQLite"))

  folder.test("another program's database is refused and not changed"): folder =>
    val file = folder.resolve("other.db")
    for journal <- List("DELETE", "WAL") do
      val connection = DriverManager.getConnection(s"jdbc:sqlite:$file")
      Sql.execute(connection, s"PRAGMA journal_mode = $journal")
      Sql.execute(connection, "CREATE TABLE IF NOT EXISTS mine (a)")
      connection.close()
      assert(refused(file).contains("another program"))

  folder.test("a newer weir's database is refused"): folder =>
    val file = folder.resolve("feeds.db")
    FeedStore.open(Sqlite.at(file.toString)).close()
    val connection = DriverManager.getConnection(s"jdbc:sqlite:$file")
    Sql.execute(connection, "PRAGMA user_version = 999")
    connection.close()
    assert(refused(file).contains("newer weir"))

  folder.test("a folder, and a file in no folder, are refused"): folder =>
    val inner = Files.createDirectory(folder.resolve("inner"))
    assert(refused(inner).contains("folder"))
    val bad = intercept[BadInput](Sqlite.at(s"$folder/none/feeds.db").version())
    assert(bad.getMessage.contains("there is no folder"))

  folder.test("an empty file becomes a database"): folder =>
    val store = FeedStore.open(Sqlite.at(write(folder, "feeds.db", "").toString))
    assertEquals(store.size(), 0L)
    store.close()
