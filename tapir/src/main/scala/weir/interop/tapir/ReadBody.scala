package weir.interop.tapir

import _root_.sttp.capabilities.StreamMaxLengthExceededException
import _root_.sttp.model.Part
import _root_.sttp.tapir.model.ServerRequest
import _root_.sttp.tapir.server.interpreter.{RawValue, RequestBody}
import _root_.sttp.tapir.{FileRange, InputStreamRange, RawBodyType, RawPart}
import java.io.ByteArrayInputStream
import java.nio.ByteBuffer
import java.nio.charset.{Charset, IllegalCharsetNameException, UnsupportedCharsetException}
import java.util.concurrent.atomic.AtomicLong
import weir.http.{Body, HttpError}
import weir.interop.sttp.WeirStreams
import weir.{Stream, Task}

/** Reads the body of a request as the type that an endpoint wants. */
private object ReadBody extends RequestBody[Task, WeirStreams]:
  val streams: WeirStreams = WeirStreams

  def toStream(request: ServerRequest, maxBytes: Option[Long]): Stream[Array[Byte]] =
    val blocks = TapirRequest.of(request).body.stream
    maxBytes.fold(blocks)(limited(blocks, _))

  /** As `WeirStreams.limitBytes`, but counts all runs: each byte of a request is read once. */
  private def limited(blocks: Stream[Array[Byte]], limitBytes: Long): Stream[Array[Byte]] =
    val read = AtomicLong()
    blocks.map { block =>
      if read.addAndGet(block.length) > limitBytes then
        throw StreamMaxLengthExceededException(limitBytes)
      block
    }

  def toRaw[R](
      request: ServerRequest,
      bodyType: RawBodyType[R],
      maxBytes: Option[Long]
  ): Task[RawValue[R]] =
    val body = TapirRequest.of(request).body
    val limited =
      if maxBytes.isEmpty then body else Body.stream(toStream(request, maxBytes), body.length)
    raw(request, bodyType, limited, request.contentTypeParsed.flatMap(_.charset))

  private def raw[R](
      request: ServerRequest,
      bodyType: RawBodyType[R],
      body: Body,
      charset: Option[String]
  ): Task[RawValue[R]] =
    val bytes = body.bytes(limitBytes = Int.MaxValue) // the server has a limit
    bodyType match
      case RawBodyType.StringBody(usual) =>
        bytes.map(bytes => RawValue(String(bytes, charset.fold(usual)(charsetOf))))
      case RawBodyType.ByteArrayBody => bytes.map(RawValue(_))
      case RawBodyType.ByteBufferBody => bytes.map(bytes => RawValue(ByteBuffer.wrap(bytes)))
      case RawBodyType.InputStreamBody =>
        bytes.map(bytes => RawValue(ByteArrayInputStream(bytes)))
      case RawBodyType.InputStreamRangeBody =>
        bytes.map(bytes => RawValue(InputStreamRange(() => ByteArrayInputStream(bytes))))
      case RawBodyType.FileBody =>
        TapirRequest.resources(request).write(request, body.stream).map { file =>
          RawValue(FileRange(file), Seq(FileRange(file)))
        }
      case multipart: RawBodyType.MultipartBody =>
        Multipart
          .parse(request.contentType.getOrElse(""), body.stream)
          .flatMap(parts => Task.traverse(parts)(rawPart(request, multipart, _)))
          .map(parts => RawValue.fromParts(parts.flatten))

  /** Returns none for a part that the endpoint does not know. */
  private def rawPart(
      request: ServerRequest,
      types: RawBodyType.MultipartBody,
      part: Part[Array[Byte]]
  ): Task[Option[RawPart]] = types.partType(part.name) match
    case None => Task.pure(None)
    case Some(partType) =>
      val charset = part.contentType.flatMap(charsetIn)
      raw(request, partType, Body(part.body), charset).map(raw => Some(part.copy(body = raw.value)))

  private def charsetIn(contentType: String): Option[String] =
    _root_.sttp.model.MediaType.parse(contentType).toOption.flatMap(_.charset)

  private def charsetOf(name: String): Charset =
    try Charset.forName(name)
    catch
      case _: IllegalCharsetNameException | _: UnsupportedCharsetException =>
        throw HttpError(415, s"The charset $name of the body is not known here.")
