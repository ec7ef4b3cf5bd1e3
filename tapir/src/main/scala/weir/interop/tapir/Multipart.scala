package weir.interop.tapir

import _root_.sttp.model.{Header, HeaderNames, Part}
import _root_.sttp.tapir.server.model.InvalidMultipartBodyException
import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import org.eclipse.jetty.http.{HttpFields, MultiPart}
import org.eclipse.jetty.io.Content.Chunk
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task}

/** Reads and writes `multipart/form-data`, by Jetty's parser. The parts are in memory. */
private object Multipart:

  /** Reads all parts. **Fails** with an `InvalidMultipartBodyException` if the body has another
    * form.
    */
  def parse(contentType: String, blocks: Stream[Array[Byte]]): Task[List[Part[Array[Byte]]]] =
    Task.defer {
      MultiPart.extractBoundary(contentType) match
        case null => Task.fail(InvalidMultipartBodyException("The content type has no boundary."))
        case boundary =>
          val parts = Parts()
          val parser = MultiPart.Parser(boundary, parts)
          blocks
            .map(block => parser.parse(Chunk.from(ByteBuffer.wrap(block), false)))
            .drain
            .flatMap { _ =>
              parser.parse(Chunk.EOF)
              parts.result
            }
    }

  private final class Parts extends MultiPart.AbstractPartsListener:
    private val content = ByteArrayOutputStream()
    private val parts = List.newBuilder[Part[Array[Byte]]]
    private var failure = Option.empty[Throwable]

    override def onPartContent(chunk: Chunk): Unit =
      val buffer = chunk.getByteBuffer
      val bytes = new Array[Byte](buffer.remaining)
      buffer.get(bytes): Unit
      content.writeBytes(bytes)

    override def onPart(name: String, fileName: String, fields: HttpFields): Unit =
      // A part without a name belongs to no input.
      if name != null then
        val headers = fields.asScala.iterator
          .map(field => Header(field.getName, field.getValue))
          .filterNot(_.is(HeaderNames.ContentDisposition))
        parts += Part(
          name,
          content.toByteArray,
          fileName = Option(fileName),
          otherHeaders = headers.toList
        )
      content.reset()

    override def onFailure(error: Throwable): Unit =
      if failure.isEmpty then failure = Some(error)

    def result: Task[List[Part[Array[Byte]]]] = failure match
      case Some(error) => Task.fail(InvalidMultipartBodyException(error))
      case None => Task.pure(parts.result())

  /** Returns the bytes of a body with `parts`, which the type of the response says is bounded by
    * `boundary`. **Fails** before its first byte with an `IllegalArgumentException` if a name, or
    * another value of a header field, has a control character, such as the end of a line. A quote
    * in a name becomes `%22`, as browsers send it.
    */
  def write(parts: Seq[(Part[?], Stream[Array[Byte]])], boundary: String): Stream[Array[Byte]] =
    Stream.suspend {
      val each = Stream.fromIterable(parts.map((part, blocks) => (headOf(part), blocks))).flatMap {
        (head, blocks) => bytes(s"--$boundary\r\n$head\r\n") ++ blocks ++ bytes("\r\n")
      }
      each ++ bytes(s"--$boundary--\r\n")
    }

  private def headOf(part: Part[?]): String =
    val unquoted = part.copy(
      name = part.name.replace("\"", "%22"),
      otherDispositionParams =
        part.otherDispositionParams.map((name, value) => name -> value.replace("\"", "%22"))
    )
    val headers = Header(HeaderNames.ContentDisposition, unquoted.contentDispositionHeaderValue) +:
      part.headers.filterNot(_.is(HeaderNames.ContentDisposition))
    headers.map { header =>
      val line = s"${header.name}: ${header.value}"
      require(
        !line.exists(c => c < ' ' && c != '\t' || c == 127),
        s"Multipart: a field of the part '${part.name.filterNot(_.isControl)}' has a control " +
          "character. Remove it."
      )
      s"$line\r\n"
    }.mkString

  private def bytes(text: String): Stream[Array[Byte]] = Stream.emit(text.getBytes(UTF_8))
