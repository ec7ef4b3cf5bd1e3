package sttp.client4.httpclient.tasks

import sttp.client4.compression.{Compressor, Decompressor}
import sttp.client4.{GenericRequestBody, StreamBody}
import weir.Stream
import weir.interop.sttp.WeirStreams
import weir.io.Bytes

/** Gzip and deflate, of streams. */
private[tasks] object Compression:
  private type Blocks = Stream[Array[Byte]]
  private val compressing = Map("gzip" -> Bytes.gzip(), "deflate" -> Bytes.deflate())
  private val decompressing = Map("gzip" -> Bytes.gunzip, "deflate" -> Bytes.inflate)

  /** Those of sttp, which compress all bodies but streams, and for streams those of Weir. */
  val compressors: List[Compressor[WeirStreams]] =
    Compressor.default[WeirStreams].map(others => OfStreams(others, compressing(others.encoding)))

  val decompressors: List[Decompressor[ReceivedBody]] = decompressing.toList.map { (name, pipe) =>
    new Decompressor[ReceivedBody]:
      def encoding: String = name
      def apply(body: ReceivedBody): ReceivedBody = body.through(unlessEmpty(pipe))
  }

  private final class OfStreams(others: Compressor[WeirStreams], pipe: Blocks => Blocks)
      extends Compressor[WeirStreams]:
    def encoding: String = others.encoding
    def apply[R <: WeirStreams](body: GenericRequestBody[R]): GenericRequestBody[WeirStreams] =
      body match
        case StreamBody(blocks) => StreamBody(WeirStreams)(pipe(blocks.asInstanceOf[Blocks]))
        case other => others(other)

  /** Servers send nothing at all in place of nothing that is compressed. */
  private def unlessEmpty(pipe: Blocks => Blocks)(blocks: Blocks): Blocks =
    Stream.resource(blocks.filter(_.nonEmpty).uncons).flatMap {
      case Some((first, rest)) => pipe(rest.prepend(first))
      case None => Stream.empty
    }
