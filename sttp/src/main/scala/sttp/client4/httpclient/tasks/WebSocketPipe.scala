package sttp.client4.httpclient.tasks

import sttp.ws.{WebSocket, WebSocketClosed, WebSocketFrame}
import weir.{Stream, Task}

/** Connects a web socket with a function from what it receives to what it sends. */
private[tasks] object WebSocketPipe:

  /** Runs `pipe`, until it ends. What it receives ends with the frame by which the server closes,
    * which is then answered. In the end the socket is closed.
    */
  def run(
      socket: WebSocket[Task],
      pipe: Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame]
  ): Task[Unit] = Task.defer {
    val exchange = Exchange(socket)
    exchange
      .sent(pipe(exchange.received))
      .guarantee(Task.defer(if exchange.hasClosed then Task.unit else socket.close()))
  }

  private final class Exchange(socket: WebSocket[Task]):
    @volatile private var closedBy = Option.empty[WebSocketFrame.Close]
    @volatile private var isClosed = false

    def hasClosed: Boolean = isClosed

    def received: Stream[WebSocketFrame.Data[?]] = Stream
      .repeatEvalOption(
        socket.receive().map(Option(_)).recover { case _: WebSocketClosed => None }
      )
      .evalTap {
        case WebSocketFrame.Ping(payload) => socket.send(WebSocketFrame.Pong(payload))
        case close: WebSocketFrame.Close => Task.delay { closedBy = Some(close) }
        case _ => Task.unit
      }
      .takeWhile(_ => closedBy.isEmpty)
      .collect { case data: WebSocketFrame.Data[?] => data }

    /** Sends frames. One that follows a part of a message continues it. */
    def sent(frames: Stream[WebSocketFrame]): Task[Unit] =
      var continues = false
      (frames ++ Stream.suspend(Stream.fromOption(closedBy))).evalForeach { frame =>
        val isContinuation = continues
        frame match
          case data: WebSocketFrame.Data[?] =>
            continues = !data.finalFragment
            socket.send(frame, isContinuation)
          case _: WebSocketFrame.Close => socket.send(frame).map(_ => isClosed = true)
          case _ => socket.send(frame)
      }
