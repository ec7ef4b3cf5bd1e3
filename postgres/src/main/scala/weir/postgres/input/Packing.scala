package weir.postgres.input

import java.io.IOException
import java.nio.charset.StandardCharsets.ISO_8859_1

/** The formats of packed files, by their first bytes.
  *
  * @param unpack
  *   the command that writes the content of a file to its standard output
  */
private[input] enum Packing(val name: String, val unpack: String, begins: String):
  case Gzip extends Packing("gzip", "gzip -dc", "\u001f\u008b")
  case Zstd extends Packing("zstd", "zstd -dc", "(\u00b5/\u00fd")
  case Bzip2 extends Packing("bzip2", "bzip2 -dc", "BZh")
  case Xz extends Packing("xz", "xz -dc", "\u00fd7zXZ\u0000")
  case Lz4 extends Packing("lz4", "lz4 -dc", "\u0004\"M\u0018")
  case Lzip extends Packing("lzip", "lzip -dc", "LZIP")
  case Compress extends Packing("compress", "uncompress -c", "\u001f\u009d")
  case Zip extends Packing("zip", "unzip -p", "PK\u0003\u0004")
  case SevenZip extends Packing("7z", "7z x -so", "7z\u00bc\u00af'\u001c")

  val mark: Array[Byte] = begins.getBytes(ISO_8859_1)

private[input] object Packing:
  /** The file is packed in a format that is not read here. */
  final class NotRead(val packing: Packing) extends IOException
