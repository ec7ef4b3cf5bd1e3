package weir.lab.load

import java.io.{BufferedOutputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}
import java.util.SplittableRandom

/** The script that is loaded, and its data alone for the server to read, kept from run to run in
  * the folder for temporary files.
  *
  * A row is a number, a tab, and a random number of up to ten digits: 5,650,000 of them are 105 MB.
  */
final case class LoadFiles(script: Path, data: Path, rows: Long):
  def bytes: Long = Files.size(script)

object LoadFiles:
  val table = "weir_load"
  val createTable = s"CREATE TABLE $table (id integer, value bigint)"

  private val largestValue = 1L << 33

  /** Returns the files of this size and seed. They are made now, unless they exist already. */
  def of(rows: Long, seed: Long): LoadFiles =
    val folder = Path.of(sys.props("java.io.tmpdir"), "weir-load")
    val _ = Files.createDirectories(folder)
    val name = s"rows-$rows-seed-$seed"
    val script = folder.resolve(s"$name.sql")
    val data = folder.resolve(s"$name.data")
    make(script): out =>
      out.write(s"COPY $table (id, value) FROM stdin;\n".getBytes(UTF_8))
      writeRows(out, rows, seed)
      out.write("\\.\n".getBytes(UTF_8))
    make(data)(writeRows(_, rows, seed))
    LoadFiles(script, data, rows)

  /** Writes the file under another name until it is complete, so that an existing file is complete.
    * Everybody may read it, since the server's user must.
    */
  private def make(file: Path)(write: OutputStream => Unit): Unit =
    if !Files.exists(file) then
      val part = Files.createTempFile(file.getParent, "part", "")
      try
        val out = BufferedOutputStream(Files.newOutputStream(part), 1 << 16)
        try write(out)
        finally out.close()
        val _ = Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rw-r--r--"))
        val _ = Files.move(part, file, ATOMIC_MOVE)
      finally Files.deleteIfExists(part): Unit

  private def writeRows(out: OutputStream, rows: Long, seed: Long): Unit =
    val random = SplittableRandom(seed)
    val line = new Array[Byte](40)
    var id = 1L
    while id <= rows do
      var at = line.length - 1
      line(at) = '\n'
      at = digits(line, at, random.nextLong(largestValue))
      at -= 1
      line(at) = '\t'
      at = digits(line, at, id)
      out.write(line, at, line.length - at)
      id += 1

  /** Writes `number` so that it ends before `end`, and returns the place at which it begins. */
  private def digits(line: Array[Byte], end: Int, number: Long): Int =
    var at = end
    var left = number
    while
      at -= 1
      line(at) = ('0' + left % 10).toByte
      left /= 10
      left > 0
    do ()
    at
