package sttp.client4.httpclient.tasks

import java.io.{File, InputStream}
import java.net.http.HttpRequest.BodyPublisher
import sttp.client4.internal.httpclient.StreamMultipartBodyBuilder
import weir.{Stream, Task}

/** Makes one stream of the parts of a body. */
private[tasks] final class StreamParts(publisher: Stream[Array[Byte]] => Task[BodyPublisher])
    extends StreamMultipartBodyBuilder[Stream[Array[Byte]], Task]:
  def fileToStream(file: File): Stream[Array[Byte]] = Stream.fromPath(file.toPath)
  def byteArrayToStream(bytes: Array[Byte]): Stream[Array[Byte]] = Stream.emit(bytes)
  def inputStreamToStream(bytes: InputStream): Stream[Array[Byte]] = Stream.fromInputStream(bytes)
  def concatStreams(
      first: Stream[Array[Byte]],
      second: Stream[Array[Byte]]
  ): Stream[Array[Byte]] = first ++ second
  def toPublisher(blocks: Stream[Array[Byte]]): Task[BodyPublisher] = publisher(blocks)
