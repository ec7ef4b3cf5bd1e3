package weir.io

import java.security.MessageDigest
import java.util.zip.Deflater
import weir.stream.{DeflateBytes, FrameBytes, GunzipBytes, InflateBytes}
import weir.stream.{TranscodeStage, UnframeBytes}
import weir.{Stream, Task}

/** Compression, frames and hashes of bytes, as functions from stream to stream. The blocks of the
  * input may end anywhere; those of the result end at other places.
  * {{{
  * val packed: Stream[Array[Byte]] = Bytes.gzip()(Stream.fromPath(path))
  * }}}
  */
object Bytes:

  /** Compresses the bytes in the format of gzip, as one member. `level` is 0 to 9, or -1 for the
    * JDK's choice.
    * {{{
    * val packed: Task[Long] =
    *   Stream.fromPath(path).through(Bytes.gzip(level = 9)).writeTo(Path.of("a.txt.gz"))
    * }}}
    */
  def gzip(level: Int = Deflater.DEFAULT_COMPRESSION): Stream[Array[Byte]] => Stream[Array[Byte]] =
    checkLevel("gzip", level)
    TranscodeStage.stream(_, () => DeflateBytes.gzip(level))

  /** Decompresses bytes in the format of gzip. Emits the content of each member, one after the
    * other. Ignores zero bytes after the last member.
    *
    * **Fails** with an `IOException` if the bytes are damaged or not gzip, and with an
    * `EOFException` if they are truncated or if there are none. The bytes before the fault are
    * emitted first.
    * {{{
    * val lines: Stream[String] =
    *   Stream.fromPath(path).through(Bytes.gunzip).through(Text.utf8Decode).through(Text.lines)
    * }}}
    */
  def gunzip: Stream[Array[Byte]] => Stream[Array[Byte]] =
    TranscodeStage.stream(_, () => GunzipBytes())

  /** Compresses the bytes in the format of zlib, which is HTTP's `deflate`. `level` is as with
    * `gzip`.
    * {{{
    * val body: Stream[Array[Byte]] = Stream.fromPath(path).through(Bytes.deflate())
    * }}}
    */
  def deflate(
      level: Int = Deflater.DEFAULT_COMPRESSION
  ): Stream[Array[Byte]] => Stream[Array[Byte]] =
    checkLevel("deflate", level)
    TranscodeStage.stream(_, () => DeflateBytes.zlib(level))

  /** Decompresses bytes in the format of zlib. **Fails** as `gunzip`, and also if more bytes follow
    * the end.
    * {{{
    * val text: Task[String] =
    *   Stream.fromPath(path).through(Bytes.inflate).through(Text.utf8Decode).mkString()
    * }}}
    */
  def inflate: Stream[Array[Byte]] => Stream[Array[Byte]] =
    TranscodeStage.stream(_, () => InflateBytes())

  private def checkLevel(name: String, level: Int): Unit = require(
    level >= -1 && level <= 9,
    s"Bytes.$name: the level was $level. It must be 0 to 9, or -1 for the JDK's choice."
  )

  /** Puts the length of each block before it, as a number of `lengthBytes` bytes, the highest byte
    * first. So each block is a frame, which `unframed` emits again unchanged, even an empty one.
    *
    * **Fails** with an `IOException` at a block of more than `limitBytes` bytes.
    * {{{
    * val sent = Stream("one", "two").map(_.getBytes).through(Bytes.framed(limitBytes = 8192))
    * }}}
    */
  def framed(limitBytes: Int, lengthBytes: Int = 4): Stream[Array[Byte]] => Stream[Array[Byte]] =
    checkFrames("framed", limitBytes, lengthBytes)
    TranscodeStage.stream(_, () => FrameBytes(limitBytes, lengthBytes))

  /** Emits the content of each frame: see `framed`. The blocks of the input may end anywhere.
    * Allocates the memory for a frame when it has read the length.
    *
    * **Fails** with an `IOException` at a frame of more than `limitBytes` bytes, before it has read
    * it, and with an `EOFException` if the input ends within a frame. The frames before that are
    * emitted first.
    * {{{
    * def messages(connection: Tcp.Connection): Stream[String] =
    *   connection.bytes().through(Bytes.unframed(limitBytes = 8192)).map(String(_))
    * }}}
    */
  def unframed(limitBytes: Int, lengthBytes: Int = 4): Stream[Array[Byte]] => Stream[Array[Byte]] =
    checkFrames("unframed", limitBytes, lengthBytes)
    TranscodeStage.stream(_, () => UnframeBytes(limitBytes, lengthBytes))

  private def checkFrames(name: String, limitBytes: Int, lengthBytes: Int): Unit =
    require(
      lengthBytes >= 1 && lengthBytes <= 4,
      s"Bytes.$name: lengthBytes was $lengthBytes. It must be 1 to 4."
    )
    val (longest, reason) =
      if lengthBytes == 4 then
        (longestArray - lengthBytes, "the largest frame that fits into an array with its length")
      else
        ((1 << (8 * lengthBytes)) - 1, s"the largest number that $lengthBytes bytes of length hold")
    require(
      limitBytes >= 1 && limitBytes <= longest,
      s"Bytes.$name: limitBytes was $limitBytes. It must be 1 to $longest, $reason."
    )

  /** The length that an array may have on every JVM. */
  private inline val longestArray = Int.MaxValue - 8

  /** Returns the digest of all bytes of `bytes`. `algorithm` is a name that the JDK knows, such as
    * `SHA-256`. **Fails** with a `NoSuchAlgorithmException` if the JDK does not know it.
    * {{{
    * val sum: Task[Array[Byte]] = Bytes.digest(Stream.fromPath(path), "SHA-256")
    * }}}
    */
  def digest(bytes: Stream[Array[Byte]], algorithm: String): Task[Array[Byte]] = Task.defer {
    val digest = MessageDigest.getInstance(algorithm)
    bytes.fold(())((_, block) => digest.update(block)).map(_ => digest.digest())
  }

  /** Emits the same blocks, and at the end runs the task that `use` returns for the digest of all
    * of them. A stream that fails or is not consumed to its end has no digest. **Fails** as
    * `digest`.
    * {{{
    * val checked: Stream[Array[Byte]] = Bytes.withDigest("SHA-256")(sum =>
    *   store(java.util.HexFormat.of().formatHex(sum))
    * )(Stream.fromPath(path))
    * }}}
    */
  def withDigest(algorithm: String)(
      use: Array[Byte] => Task[Any]
  ): Stream[Array[Byte]] => Stream[Array[Byte]] = bytes =>
    Stream.suspend {
      val digest = MessageDigest.getInstance(algorithm)
      bytes.map { block =>
        digest.update(block)
        block
      } ++ Stream.exec(Task.defer(use(digest.digest())))
    }
