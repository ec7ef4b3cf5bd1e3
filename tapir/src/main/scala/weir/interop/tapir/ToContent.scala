package weir.interop.tapir

import _root_.sttp.model.HasHeaders
import _root_.sttp.tapir.server.interpreter.ToResponseBody
import _root_.sttp.tapir.{
  CodecFormat,
  FileRange,
  InputStreamRange,
  RawBodyType,
  RawPart,
  WebSocketBodyOutput
}
import java.io.InputStream
import java.nio.ByteBuffer
import java.nio.charset.Charset
import java.nio.file.Files
import java.util.UUID
import weir.interop.sttp.WeirStreams
import weir.{Stream, Task}

/** Makes the body of a response of the value of an endpoint. */
private final class ToContent(resources: RequestResources)
    extends ToResponseBody[Content, WeirStreams]:
  val streams: WeirStreams = WeirStreams

  def fromRawValue[R](
      value: R,
      headers: HasHeaders,
      format: CodecFormat,
      bodyType: RawBodyType[R]
  ): Content = bodyType match
    case RawBodyType.StringBody(charset) => Content.InMemory(value.getBytes(charset))
    case RawBodyType.ByteArrayBody => Content.InMemory(value)
    case RawBodyType.ByteBufferBody => Content.InMemory(bytesOf(value))
    case RawBodyType.InputStreamBody =>
      resources.atEnd(Task.delay(value.close()))
      Content.Blocks(Stream.fromInputStream(value), headers.contentLength)
    case RawBodyType.InputStreamRangeBody => ofRange(value)
    case RawBodyType.FileBody => ofFile(value)
    case multipart: RawBodyType.MultipartBody => ofParts(value, multipart)

  def fromStreamValue(
      blocks: Stream[Array[Byte]],
      headers: HasHeaders,
      format: CodecFormat,
      charset: Option[Charset]
  ): Content = Content.Blocks(blocks, headers.contentLength)

  def fromWebSocketPipe[Received, Sent](
      pipe: Stream[Received] => Stream[Sent],
      output: WebSocketBodyOutput[
        Stream[Received] => Stream[Sent],
        Received,
        Sent,
        ?,
        WeirStreams
      ]
  ): Content = throw UnsupportedOperationException("weir-http has no web sockets.")

  private def bytesOf(buffer: ByteBuffer): Array[Byte] =
    val bytes = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(bytes): Unit
    bytes

  private def ofRange(value: InputStreamRange): Content = value.range match
    case Some(range) =>
      val blocks = Stream.fromInputStream(value.inputStreamFromRangeStart())
      Content.Blocks(first(blocks, range.contentLength), Some(range.contentLength))
    case None => Content.Blocks(Stream.fromInputStream(value.inputStream()), None)

  private def ofFile(value: FileRange): Content =
    val path = value.file.toPath
    value.range.flatMap(_.startAndEnd) match
      case Some((start, _)) =>
        val length = value.range.get.contentLength
        Content.Blocks(first(Stream.fromInputStream(from(value, start)), length), Some(length))
      case None => Content.Blocks(Stream.fromPath(path), Some(Files.size(path)))

  private def from(value: FileRange, start: Long): InputStream =
    val bytes = Files.newInputStream(value.file.toPath)
    bytes.skipNBytes(start)
    bytes

  /** Emits the first `count` bytes of `blocks`. */
  private def first(blocks: Stream[Array[Byte]], count: Long): Stream[Array[Byte]] =
    if count <= 0 then Stream.empty
    else
      Stream.suspend {
        var left = count
        blocks
          .map { block =>
            val taken = block.take(math.min(left, block.length).toInt)
            left -= taken.length
            taken
          }
          .takeThrough(_ => left > 0)
      }

  /** Parts whose names the endpoint does not know are left out. */
  private def ofParts(parts: Seq[RawPart], types: RawBodyType.MultipartBody): Content =
    val known = for
      part <- parts
      partType <- types.partType(part.name)
    yield
      val anyType = partType.asInstanceOf[RawBodyType[Any]]
      val content = fromRawValue[Any](part.body, part, CodecFormat.OctetStream(), anyType)
      (part, content)
    val boundary = UUID.randomUUID.toString
    val blocks =
      Multipart.write(known.map((part, content) => (part, content.body.stream)), boundary)
    Content.Blocks(blocks, None, Some(boundary))
