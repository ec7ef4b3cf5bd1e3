package sttp.client4.httpclient.tasks

import java.nio.ByteBuffer
import java.util.List as JavaList
import java.util.concurrent.Flow.Publisher
import scala.jdk.CollectionConverters.*
import sttp.client4.internal.httpclient.cancelPublisher
import weir.{Stream, Task}

/** The body of a response.
  *
  * @param blocks
  *   its bytes, which are read from the connection while the stream runs
  * @param close
  *   frees the connection, if the stream has not run
  */
final class ReceivedBody private (val blocks: Stream[Array[Byte]], val close: Task[Unit]):

  /** Returns this body with other bytes, made of its own. */
  def through(pipe: Stream[Array[Byte]] => Stream[Array[Byte]]): ReceivedBody =
    new ReceivedBody(pipe(blocks), close)

  /** Returns this body, at whose end `task` runs. */
  def endedBy(task: Task[Unit]): ReceivedBody =
    new ReceivedBody(blocks.onFinalize(task), close.guarantee(task))

object ReceivedBody:
  val empty: ReceivedBody = inMemory(Stream.empty)

  /** Has bytes that were read before. */
  def inMemory(blocks: Stream[Array[Byte]]): ReceivedBody = new ReceivedBody(blocks, Task.unit)

  def of(publisher: Publisher[JavaList[ByteBuffer]]): ReceivedBody = new ReceivedBody(
    Stream
      .fromPublisher(publisher, buffer = 1)
      .flatMap(buffers => Stream.fromIterator(buffers.asScala.iterator.map(bytesOf))),
    Task.delay(cancelPublisher(publisher))
  )

  private def bytesOf(buffer: ByteBuffer): Array[Byte] =
    val bytes = new Array[Byte](buffer.remaining)
    buffer.get(bytes): Unit
    bytes
