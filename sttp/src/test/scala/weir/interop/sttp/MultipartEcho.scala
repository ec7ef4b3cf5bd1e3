package weir.interop.sttp

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import org.eclipse.jetty.http.{HttpFields, HttpHeader, MultiPart}
import org.eclipse.jetty.io.Content.Chunk
import weir.Task
import weir.http.{Request, Response}

/** Answers with the parts of a body, in the forms that sttp's suites expect. */
private object MultipartEcho:
  def apply(request: Request, rest: List[String]): Task[Response] =
    val contentType = request.headers.get("Content-Type").get
    request.body.bytes().map { bytes =>
      val parts = Parts()
      MultiPart
        .Parser(MultiPart.extractBoundary(contentType), parts)
        .parse(Chunk.from(ByteBuffer.wrap(bytes), true))
      val texts = parts.all.result()
      Response.text(rest match
        case List("other") => s"$contentType,${texts.map(_.text).mkString(", ")}"
        case List("content_type") =>
          texts.map(part => s"${part.shown} content-type: ${part.contentType}").mkString(", ")
        case _ => texts.map(_.shown).mkString(", "))
    }

  private final case class Shown(
      name: String,
      fileName: Option[String],
      text: String,
      contentType: String
  ):
    def shown: String = s"$name=$text${fileName.fold("")(name => s" ($name)")}"

  private final class Parts extends MultiPart.AbstractPartsListener:
    private val content = ByteArrayOutputStream()
    val all = List.newBuilder[Shown]

    override def onPartContent(chunk: Chunk): Unit =
      val bytes = new Array[Byte](chunk.getByteBuffer.remaining)
      chunk.getByteBuffer.get(bytes): Unit
      content.writeBytes(bytes)

    override def onPart(name: String, fileName: String, fields: HttpFields): Unit =
      val contentType = Option(fields.get(HttpHeader.CONTENT_TYPE)).getOrElse("") match
        case s"$media=$charset" => s"$media=${charset.toUpperCase}"
        case media => media
      all += Shown(name, Option(fileName), content.toString("UTF-8"), contentType)
      content.reset()
