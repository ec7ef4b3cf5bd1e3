package weir.http

import java.nio.charset.{Charset, StandardCharsets}
import weir.{Stream, Task}

/** The body of a request or of a response: blocks of bytes, which may end anywhere.
  *
  * A received body is read from its connection only while its stream runs: as long as the stream
  * asks for no block, the sender waits. Such a body can be read once, and only until its request
  * has ended at a server, or its use at a client. A second run of the stream continues where the
  * first one has stopped, and **fails** with an `IllegalStateException` if that was the end. A body
  * in memory can be read again, such as one that `HttpClient.send` returns.
  *
  * A body to send is written while its stream runs: as long as the other side does not read, the
  * stream waits.
  */
final class Body private (
    blocks: Stream[Array[Byte]] | Null,

    /** The number of bytes, if it is known before they are read. */
    val length: Option[Long],
    private[http] val inMemory: Array[Byte] | Null,

    /** True if each run of the stream emits the same bytes. */
    private[http] val isRepeatable: Boolean,
    isOfResponse: Boolean = false,

    /** Runs at a server, once nothing more of the response is sent. */
    private[http] val release: Task[Unit] = Task.unit
):

  /** The blocks of bytes. */
  def stream: Stream[Array[Byte]] =
    val bytes = inMemory
    if bytes == null then blocks.nn
    else if bytes.isEmpty then Stream.empty
    else Stream.emit(bytes)

  /** Returns this body, marked as one that may be sent more than once: by `ClientSettings.retry`,
    * and after redirects. Bodies in memory need no mark. Each run of the stream must emit the same
    * bytes. The stream of a file does; the stream of a received body does not.
    * {{{
    * val upload = Body.stream(Stream.fromPath(path)).repeatable
    * }}}
    */
  def repeatable: Body = copyOf(isRepeatable = true, release)

  /** Returns this body with a task, which a server runs once at the end of the response: after the
    * response was sent, has failed, or was sent without this body, as for `HEAD` or with status
    * 304. An error of `task` is logged. A client does not run `task`.
    * {{{
    * val download = Response(200, body = Body.stream(rows).onRelease(cursor.close))
    * }}}
    */
  def onRelease(task: Task[Unit]): Body = copyOf(isRepeatable, release.guarantee(task))

  private def copyOf(isRepeatable: Boolean, release: Task[Unit]): Body =
    new Body(blocks, length, inMemory, isRepeatable, isOfResponse, release)

  /** Returns all bytes. **Waits** until the sender has sent them. **Fails** if there are more than
    * `limitBytes`, and leaves the rest unread: with a [[ResponseTooLarge]] if it is the body of a
    * response that a client has received, otherwise with a [[BodyTooLarge]].
    */
  def bytes(limitBytes: Int = Body.usualLimitBytes): Task[Array[Byte]] =
    val known = inMemory
    if known != null && known.length <= limitBytes then Task.pure(known)
    else if length.exists(_ > limitBytes) then Task.defer(Task.fail(tooLarge(limitBytes)))
    else Task.defer(Body.collect(stream, limitBytes, tooLarge))

  /** Returns all bytes as text. **Fails** as `bytes`. Invalid bytes become `U+FFFD`. */
  def text(
      limitBytes: Int = Body.usualLimitBytes,
      charset: Charset = StandardCharsets.UTF_8
  ): Task[String] = bytes(limitBytes).map(String(_, charset))

  private def tooLarge(limitBytes: Int): Throwable =
    if isOfResponse then ResponseTooLarge(limitBytes) else BodyTooLarge(limitBytes)

object Body:
  private inline val usualLimitBytes = 10_485_760

  /** The error of a read after the end of a received body. */
  private[http] def readTwice: Throwable = IllegalStateException(
    "The body was read to its end, and can be read once. Keep its bytes or its text."
  )

  /** A body without bytes. */
  val empty: Body = apply(Array.emptyByteArray)

  /** Returns a body of these bytes, which must not be changed afterwards. */
  def apply(bytes: Array[Byte]): Body = inMemory(bytes, isOfResponse = false)

  /** Returns a body of the bytes of `text` in UTF-8. */
  def text(text: String): Body = apply(text.getBytes(StandardCharsets.UTF_8))

  /** Returns a body of the bytes that `blocks` emits. Without a `length`, they are sent in chunks.
    * With a `length`, sending fails if `blocks` emits fewer or more bytes. A client sends the body
    * once: see `repeatable`.
    * {{{
    * val download = Response(200, body = Body.stream(Stream.fromPath(path)))
    * }}}
    */
  def stream(blocks: Stream[Array[Byte]], length: Option[Long] = None): Body =
    new Body(blocks, length, null, isRepeatable = false)

  /** The body of a response that a client has received. */
  private[http] def ofResponse(blocks: Stream[Array[Byte]], length: Option[Long]): Body =
    new Body(blocks, length, null, isRepeatable = false, isOfResponse = true)

  private[http] def ofResponse(bytes: Array[Byte]): Body = inMemory(bytes, isOfResponse = true)

  private def inMemory(bytes: Array[Byte], isOfResponse: Boolean): Body =
    new Body(null, Some(bytes.length.toLong), bytes, isRepeatable = true, isOfResponse)

  private def collect(
      blocks: Stream[Array[Byte]],
      limitBytes: Int,
      tooLarge: Int => Throwable
  ): Task[Array[Byte]] =
    val all = java.io.ByteArrayOutputStream()
    blocks
      .evalForeach { block =>
        if block.length > limitBytes - all.size then Task.fail(tooLarge(limitBytes))
        else Task.pure(all.write(block, 0, block.length))
      }
      .map(_ => all.toByteArray)
