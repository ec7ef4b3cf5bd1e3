package sttp.client4.httpclient.tasks

import java.io.ByteArrayOutputStream
import sttp.client4.GenericWebSocketResponseAs
import sttp.client4.internal.httpclient.BodyFromHttpClient
import sttp.client4.internal.{BodyFromResponseAs, SttpFile}
import sttp.client4.ws.{GotAWebSocketException, NotAWebSocketException}
import sttp.model.ResponseMetadata
import sttp.monad.MonadError
import sttp.ws.{WebSocket, WebSocketFrame}
import weir.interop.sttp.{WeirStreams, taskMonad}
import weir.{Stream, Task, writeTo}

/** Reads a response as its request says. */
private[tasks] final class ReadBody extends BodyFromHttpClient[Task, WeirStreams, ReceivedBody]:
  val streams: WeirStreams = WeirStreams
  given monad: MonadError[Task] = taskMonad

  def compileWebSocketPipe(
      socket: WebSocket[Task],
      pipe: Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame]
  ): Task[Unit] = WebSocketPipe.run(socket, pipe)

  protected def bodyFromResponseAs
      : BodyFromResponseAs[Task, ReceivedBody, WebSocket[Task], Stream[Array[Byte]]] =
    new BodyFromResponseAs[Task, ReceivedBody, WebSocket[Task], Stream[Array[Byte]]]:
      protected def withReplayableBody(
          body: ReceivedBody,
          seen: Either[Array[Byte], SttpFile]
      ): Task[ReceivedBody] = Task.pure(
        ReceivedBody.inMemory(seen.fold(Stream.emit, file => Stream.fromPath(file.toPath)))
      )

      protected def regularIgnore(body: ReceivedBody): Task[Unit] = body.blocks.drain

      protected def regularAsByteArray(body: ReceivedBody): Task[Array[Byte]] = Task.defer {
        val all = ByteArrayOutputStream()
        body.blocks.map(all.writeBytes).drain.map(_ => all.toByteArray)
      }

      protected def regularAsFile(body: ReceivedBody, file: SttpFile): Task[SttpFile] =
        body.blocks.writeTo(file.toPath).as(file)

      protected def regularAsStream(
          body: ReceivedBody
      ): Task[(Stream[Array[Byte]], () => Task[Unit])] =
        Task.pure((body.blocks, () => body.close))

      protected def handleWS[T](
          as: GenericWebSocketResponseAs[T, ?],
          metadata: ResponseMetadata,
          socket: WebSocket[Task]
      ): Task[T] = bodyFromWs(as, socket, metadata)

      protected def cleanupWhenNotAWebSocket(
          body: ReceivedBody,
          error: NotAWebSocketException
      ): Task[Unit] = body.close

      protected def cleanupWhenGotWebSocket(
          socket: WebSocket[Task],
          error: GotAWebSocketException
      ): Task[Unit] = socket.close()
