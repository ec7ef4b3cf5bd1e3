package weir.http.server

import java.io.IOException
import org.eclipse.jetty.server.{Request as JettyRequest, Response as JettyResponse}
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.Invocable
import weir.http.{HttpError, Request, Response}
import weir.{Outcome, Task}

/** A request in flight: runs its task, sends the response, and completes Jetty's request once.
  *
  *   - **Shared**, under this object's lock: `cancel`, `reason`.
  *   - **The race that we fear**: the client goes before `runAsync` has returned the function that
  *     cancels. `stop` sets `reason` first, and `start` looks for it after it has set `cancel`.
  */
private[server] final class Exchange(
    requests: Requests,
    in: JettyRequest,
    out: JettyResponse,
    completion: Callback,
    endPoint: WatchedEndPoint
):
  private val body =
    RequestBody(in, requests.settings.bodyLimitBytes, () => stop(Exchange.Reason.ClientGone))
  private val writer = ResponseWriter(out, in.getMethod)

  private var cancel: (() => Unit) | Null = null
  private var reason: Exchange.Reason | Null = null

  def start(request: RequestBody => Request): Unit =
    endPoint.watch(() => stop(Exchange.Reason.ClientGone))
    in.addFailureListener(_ => stop(Exchange.Reason.ClientGone))
    // A connection without traffic is no failure while the handler works.
    in.addIdleTimeoutListener(_ => false)
    val cancelTask = answer(request).runAsync(ended)(using requests.runtime)
    val isStopped = synchronized {
      cancel = cancelTask
      reason != null
    }
    if isStopped then cancelTask()

  /** Cancels the task. */
  def stop(because: Exchange.Reason): Unit =
    val cancelTask = synchronized {
      if reason == null then reason = because
      cancel
    }
    if cancelTask != null then cancelTask()

  private def answer(request: RequestBody => Request): Task[Unit] =
    Task
      .defer(requests.handler(request(body)))
      .timeoutTo(requests.settings.handlerTimeout, Task.defer(Task.fail(tooLate)))
      .attempt
      .flatMap {
        case Right(response) if response.status >= 200 && response.status <= 599 =>
          writer.send(response, isLast = requests.isDraining)
        case Right(response) =>
          val why = s"The handler's response has the status ${response.status}."
          writer.send(failure(IllegalStateException(why)), isLast = true)
        // What is left of the request's body is not worth a connection.
        case Left(error) =>
          writer.send(failure(error), isLast = requests.isDraining || !in.consumeAvailable())
      }

  private def tooLate: HttpError =
    if body.isWaiting then HttpError(408, "The body did not arrive in time.")
    else HttpError(503, "The request took too long.")

  private def failure(error: Throwable): Response = error match
    case error: HttpError => Response.text(s"${error.getMessage}\n", error.status)
    case error =>
      requests.log.failed(in, error)
      Exchange.internalError

  private def ended(outcome: Outcome[Unit]): Unit =
    endPoint.endRequest()
    outcome match
      case Outcome.Succeeded(_) =>
        requests.served(in, out.getStatus, writer.sentBytes)
        Ending.succeeded()
      case Outcome.Failed(error) =>
        if !error.isInstanceOf[ConnectionLost] then requests.log.failed(in, error)
        abort(error)
      case Outcome.Canceled =>
        synchronized(reason) match
          case Exchange.Reason.ClientGone => abort(IOException("The client has gone."))
          case Exchange.Reason.Drained => answerOrAbort(Requests.stopping)
          case null =>
            requests.log.failed(in, IllegalStateException("The handler has cancelled itself."))
            answerOrAbort(Exchange.internalError)

  private def answerOrAbort(response: Response): Unit =
    if out.isCommitted then abort(IOException("The request was cancelled."))
    else
      writer.sendAtOnce(response, isLast = true, Ending)
      requests.served(in, response.status, writer.sentBytes)

  /** Closes the connection so that the client sees an error, and not the end of the response. */
  private def abort(error: Throwable): Unit =
    requests.served(in, Requests.aborted, writer.sentBytes)
    endPoint.abort()
    Ending.failed(error)

  /** The end of Jetty's request. A request is in flight until then. */
  private object Ending extends Callback:
    override def getInvocationType: Invocable.InvocationType =
      Invocable.InvocationType.NON_BLOCKING

    override def succeeded(): Unit =
      try completion.succeeded()
      finally requests.ended(Exchange.this)

    override def failed(error: Throwable): Unit =
      try completion.failed(error)
      finally requests.ended(Exchange.this)

private[server] object Exchange:
  /** The reason for which a task is cancelled from outside. */
  enum Reason:
    case ClientGone, Drained

  val internalError: Response = Response.text("Internal Server Error\n", 500)
