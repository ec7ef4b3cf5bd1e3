package weir.otel

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonValueCodec, readFromString}
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import java.nio.file.{Files, Path}
import scala.util.Using
import scala.jdk.CollectionConverters.*

/** The spans that the Java agent writes to standard output, with
  * `-Dotel.traces.exporter=experimental-otlp/stdout`: JSON after OTLP, one batch a line.
  */
private[otel] object ExportedSpans:
  final case class Span(
      traceId: String,
      spanId: String,
      parentSpanId: String = "",
      name: String,
      kind: Int,
      attributes: List[Attribute] = Nil
  ):
    def isServer: Boolean = kind == 2
    def isClient: Boolean = kind == 3

    def apply(attribute: String): Option[String] =
      attributes.find(_.key == attribute).flatMap(_.value.stringValue)

  final case class Attribute(key: String, value: Value)
  final case class Value(stringValue: Option[String] = None)

  private final case class Batch(resourceSpans: List[OfResource] = Nil)
  private final case class OfResource(scopeSpans: List[OfScope] = Nil)
  private final case class OfScope(spans: List[Span] = Nil)
  private given JsonValueCodec[Batch] = JsonCodecMaker.make

  def in(output: Path): Vector[Span] = Using.resource(Files.lines(output)) { lines =>
    lines
      .filter(_.startsWith("{"))
      .iterator
      .asScala
      .flatMap(readFromString[Batch](_).resourceSpans)
      .flatMap(_.scopeSpans)
      .flatMap(_.spans)
      .toVector
  }
