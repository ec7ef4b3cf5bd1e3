package weir.postgres

import com.github.luben.zstd.Zstd
import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.zip.GZIPOutputStream
import weir.{Stream, Task, WeirSuite}

class SqlScriptSuite extends WeirSuite:
  private val script =
    ("SELECT 1;\nCOPY t FROM STDIN;\n" + "1\tabc\n" * 50_000 + "\\.\nSELECT 2;\n").getBytes(UTF_8)

  test("without a server, each session begins with the settings of the first"):
    val script = "SET standard_conforming_strings = off;\n\\c other\nSELECT '\\'; SELECT ';';\n"
    val source = SqlScript.fromInputStream("s.sql")(java.io.ByteArrayInputStream(script.getBytes))
    val statements = source.pieces.toList.runSync().collect { case s: Piece.Statement =>
      String(s.text)
    }
    assertEquals(statements.drop(1), List("SELECT '\\'", "SELECT ';'"))

  test("a plain file, one packed by gzip and one by Zstandard have the same pieces"):
    val plain = shape(file(script))
    assertEquals(plain, List("SELECT 1", "COPY t FROM STDIN", "data 300000", "end", "SELECT 2"))
    assertEquals(shape(file(gzip(script))), plain)
    assertEquals(shape(file(Zstd.compress(script))), plain)

  test("the pieces come again in each run, also beside another; a stream that was read is refused"):
    val opened = SqlScript.fromInputStream("s")(ByteArrayInputStream(script))
    for again <- List(file(script), opened) do
      val shapes = again.pieces.count
      val once = shapes.runSync()
      assertEquals(shapes.runSync(), once)
      assertEquals(Task.both(shapes, shapes).runSync(), (once, once))
    val shared = ByteArrayInputStream(script)
    val taken = SqlScript.fromInputStream("s")(shared)
    assertEquals(taken.pieces.count.runSync(), opened.pieces.count.runSync())
    val said = intercept[IllegalStateException](taken.pieces.count.runSync()).getMessage
    assert(said.contains("the input of s was read by an earlier run"), said)

  test("gzip members one after the other are read to the end of the last"):
    val (head, tail) = script.splitAt(100_000)
    assertEquals(shape(file(gzip(head) ++ gzip(tail))), shape(file(script)))
    assertEquals(shape(file(Zstd.compress(head) ++ Zstd.compress(tail))), shape(file(script)))

  test(
    "gzip in parts is read to its end from a pipe that gives a byte at a time and says nothing " +
      "is there"
  ):
    val (head, tail) = script.splitAt(50)
    val packed = gzip(head) ++ gzip(tail)
    val slow = SqlScript.fromInputStream("s")(Slow(packed))
    assertEquals(shape(slow), shape(file(script)))

  test("packed data that is cut off fails once what could be unpacked has been split"):
    for packed <- List(gzip(script), Zstd.compress(script)) do
      val cut = file(packed.dropRight(20))
      val error = failure(cut)
      assert(error.problem.contains("damaged or cut off"), error.problem)
      assert(error.position.exists(_.offset > 20), error.getMessage)
      val seen = shape(cut, Stream.empty)
      assertEquals(seen.head, "SELECT 1")

  test("packed data with a wrong sum, or something behind it, is not applied to its end"):
    for (name, packed) <- List(
        "sum" -> gzip(script).updated(gzip(script).length - 8, 1.toByte),
        "length" -> gzip(script).updated(gzip(script).length - 1, 1.toByte),
        "text" -> (gzip(script) ++ "SELECT 3;\n".getBytes),
        "byte" -> (gzip(script) :+ 0.toByte),
        "many" -> (gzip(script) ++ new Array[Byte](100_000)),
        "member" -> (gzip(script) ++ gzip(script).take(5)),
        "zstd" -> (Zstd.compress(script) ++ "SELECT 3;\n".getBytes)
      )
    do
      val error = failure(file(packed))
      assert(clue(error.problem).contains("damaged or cut off"), name)
      val seen = shape(file(packed), Stream.empty)
      assertEquals((seen.head, seen.contains("SELECT 2")), ("SELECT 1", false), name)

  test("a file in another format is named, with the command that unpacks it"):
    for (begin, name, command) <- List(
        (Array(0x42, 0x5a, 0x68, 0x39, 0x31), "bzip2", "bzip2 -dc FILE | weir sql -"),
        (Array(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), "xz", "xz -dc FILE | weir sql -"),
        (Array(0x04, 0x22, 0x4d, 0x18), "lz4", "lz4 -dc FILE | weir sql -"),
        (Array(0x50, 0x4b, 0x03, 0x04), "zip", "unzip -p FILE | weir sql -")
      )
    do
      val error = failure(file(begin.map(_.toByte) ++ new Array[Byte](20)))
      assertEquals(error.problem, s"the file is packed by $name, which is not read here")
      assertEquals(error.hint, Some(s"Unpack it: $command"))

  test("a file that is cut shorter while it is read is an error"):
    val path = Files.createTempFile("weir-split", ".sql")
    path.toFile.deleteOnExit()
    Files.write(path, "SELECT 1;\n".repeat(100_000).getBytes): Unit
    val cutting = SqlScript.file(path).pieces.evalMap { piece =>
      Task(if piece.endOffset == 9 then Files.write(path, "SELECT 1;\n".getBytes): Unit)
    }
    val error = intercept[ScriptException](cutting.drain.runSync())
    assertEquals(error.problem, "the script cannot be read any further")
    assert(clue(error.detail).exists(_.contains("had 1000000 bytes when it was opened, and ends")))

  test("an archive of pg_dump is refused, packed, too"):
    for bytes <- List("PGDMP\u0001".getBytes, gzip("PGDMP\u0001".getBytes)) do
      val error = failure(file(bytes))
      assertEquals(error.problem, "a custom-format dump, not an SQL script")
      assert(error.hint.exists(_.contains("pg_restore")))

  test("a file that is not there, and a folder, fail with its name, when the stream runs"):
    val none = Path.of("/no/such/file.sql")
    for path <- List(none, Files.createTempDirectory("weir-split")) do
      val error = failure(SqlScript.file(path))
      assertEquals(error.getMessage, s"$path: the script cannot be opened")

  test("an empty file has no pieces"):
    assertEquals(shape(file(Array.empty[Byte])), Nil)

  test("the bytes read are those of the file, packed as it is"):
    val packed = gzip(script)
    val one = file(packed)
    assertEquals(one.sizeBytes, Some(packed.length.toLong))
    assertEquals(one.readBytes, 0L)
    one.pieces.drain.runSync()
    assertEquals(one.readBytes, packed.length.toLong)

  test("no more is read than was asked for"):
    val one = file(("SELECT 1;" * 100_000).getBytes)
    one.pieces.take(1).drain.runSync()
    assertEquals(one.readBytes, 65_536L)

  test("the file is closed once, however the stream ends"):
    for stream <- List[Stream[Piece] => Stream[Any]](
        identity,
        _.take(1),
        _.evalMap(_ => weir.Task.fail(Boom())),
        _.evalMap(_ => weir.Task.canceled)
      )
    do
      val input = Closed(script)
      stream(SqlScript.fromInputStream("s")(input).pieces).drain.start
        .flatMap(_.join)
        .runSync(): Unit
      assertEquals(input.closes, 1)

  test("an error of the device has the position up to which it was read"):
    val broken = new ByteArrayInputStream(script.take(100)):
      override def read(bytes: Array[Byte], from: Int, length: Int): Int =
        val count = super.read(bytes, from, length)
        if count < 0 then throw IOException("broken") else count
    val error = failure(SqlScript.fromInputStream("s")(broken))
    assertEquals(error.position.map(_.offset), Some(100L))
    assertEquals(error.detail, Some("broken"))

  test("data of COPY is never copied: its pieces are parts of the blocks that were read"):
    val pieces = file(script).pieces.toList.runSync().collect { case data: Piece.CopyData => data }
    // The first block is the one in which a packing is looked for.
    assertEquals(pieces.map(_.bytes.length), List(65_536, 262_144))

  test("what a pipe gives little by little takes no more memory than it has bytes"):
    val slow = SqlScript.fromInputStream("s")(Slow(script.take(1000)))
    val kept = slow.pieces.handleErrorWith(_ => Stream.empty).toList.runSync().collect {
      case data: Piece.CopyData => data.bytes.length
    }
    assert(kept.sum > 900 && kept.sum < 1100, kept.sum)

  private def file(bytes: Array[Byte]): SqlScript =
    val path = Files.createTempFile("weir-split", ".sql")
    path.toFile.deleteOnExit()
    Files.write(path, bytes): Unit
    SqlScript.file(path)

  private def gzip(bytes: Array[Byte]): Array[Byte] =
    val out = ByteArrayOutputStream()
    val gzip = GZIPOutputStream(out)
    gzip.write(bytes)
    gzip.close()
    out.toByteArray

  private def failure(script: SqlScript): ScriptException =
    intercept[ScriptException](script.pieces.drain.runSync())

  /** The statements, how much data there is, and where it ends; an error is an end if `instead` is
    * given.
    */
  private def shape(script: SqlScript, instead: Stream[Piece] | Null = null): List[String] =
    val pieces = script.pieces
    val all = if instead eq null then pieces else pieces.handleErrorWith(_ => instead)
    all.toList.runSync().foldRight(List.empty[String]) {
      case (statement: Piece.Statement, rest) => String(statement.text, UTF_8) :: rest
      case (data: Piece.CopyData, s"data $more" :: rest) =>
        s"data ${data.length + more.toInt}" :: rest
      case (data: Piece.CopyData, rest) => s"data ${data.length}" :: rest
      case (_: Piece.CopyEnd, rest) => "end" :: rest
      case (_: Piece.Command, rest) => "command" :: rest
      case (_: Piece.File, rest) => "file" :: rest
    }

  private final class Slow(bytes: Array[Byte]) extends InputStream:
    private val all = ByteArrayInputStream(bytes)
    def read(): Int = all.read()
    override def read(into: Array[Byte], from: Int, length: Int): Int =
      all.read(into, from, math.min(1, length))
    override def available(): Int = 0

  private final class Closed(bytes: Array[Byte]) extends ByteArrayInputStream(bytes):
    var closes = 0
    override def close(): Unit = closes += 1
