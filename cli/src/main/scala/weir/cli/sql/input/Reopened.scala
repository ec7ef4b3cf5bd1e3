package weir.cli.sql.input

import com.github.luben.zstd.ZstdInputStream
import java.io.{BufferedInputStream, InputStream}
import java.nio.file.Files
import java.util.zip.GZIPInputStream

import weir.cli.sql.Settings.Input

/** A script once more, for the lines that errors are about. */
object Reopened:
  /** The script from its beginning, unpacked; none if it cannot be read again, as a pipe cannot. */
  def of(input: Input): Option[InputStream] = input match
    case Input.File(path, true) =>
      val file = BufferedInputStream(Files.newInputStream(path))
      file.mark(4)
      val mark = file.readNBytes(4).map(_ & 0xff).toVector
      file.reset()
      Some:
        if mark.startsWith(Vector(0x1f, 0x8b)) then GZIPInputStream(file)
        else if mark == Vector(0x28, 0xb5, 0x2f, 0xfd) then ZstdInputStream(file)
        else file
    case _ => None
