package weir.http.server

import java.io.IOException
import java.util.concurrent.TimeoutException
import java.util.function.Predicate
import org.eclipse.jetty.server.{Request as JettyRequest, Response as JettyResponse}
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.Invocable
import weir.http.{HttpError, Request, Response}
import weir.{Outcome, Task, WeirRuntime}

/** A request in flight: runs its task, sends the response, and completes Jetty's request once. It
  * is its own callback, of its task's end and of that of the last write: each request makes fewer
  * objects so.
  *
  *   - **Owner only**, the fiber, and then the code that runs at its end: `isAdmitted`,
  *     `response`, `taskNanos`.
  */
private[server] final class Exchange(
    requests: Requests,
    in: JettyRequest,
    out: JettyResponse,
    completion: Callback,
    endPoint: WatchedEndPoint
) extends Callback,
      (Outcome[Unit] => Unit):
  private val body =
    RequestBody(in, requests.settings.bodyLimitBytes, () => stop(Exchange.Reason.ClientGone))
  private val writer = ResponseWriter(out, in.getMethod, () => makeRoom())
  private var isAdmitted = true

  /** The response that the handler has returned. */
  private var response: Response | Null = null

  /** The time at which the handler began; 0 before, and after its end. */
  private var taskNanos = 0L

  private val cancel = TaskCancel()

  private val begunNanos = in.getHeadersNanoTime

  /** True once the last write has ended. */
  @volatile private var isSent = false

  def start(request: RequestBody => Request): Unit =
    endPoint.watch(this)
    // A connection without traffic is no failure while the handler works.
    in.addIdleTimeoutListener(Exchange.goesOn)
    given WeirRuntime = requests.runtime
    val reader = ReaderThread.here
    if requests.times.areShort && reader != null && reader.isRunning then
      answer(request).runAsyncHere(cancel)(this)
      // The access log and the end of the request keep this thread, too.
      if !reader.isReplaced then requests.times.kept(System.nanoTime() - begunNanos)
    else cancel(answer(request).runAsync(this))

  /** Cancels the task. */
  def stop(because: Exchange.Reason): Unit = cancel.stop(because)

  /** Cancels the handler if its time is over. */
  def stopIfLate(now: Long): Unit =
    if now - begunNanos > requests.handlerLimitNanos then
      cancel.stopHandler(
        if body.isWaiting then Exchange.Reason.BodyLate else Exchange.Reason.HandlerLate
      )

  private def answer(request: RequestBody => Request): Task[Unit] =
    Task
      .defer {
        taskNanos = System.nanoTime() | 1
        requests.handler(request(body))
      }
      .map(returned => response = returned) // `map`: a cancel does not come in between
      .flatMap(_ => send())
      .handleErrorWith(answerFailure)

  private def send(): Task[Unit] =
    if !mayAnswer() then Task.canceled
    else
      val returned = Exchange.checked(response)
      writer.send(returned, isLast(returned))

  /** Marks the end of the handler. Returns false if its task is being cancelled. */
  private def mayAnswer(): Boolean =
    if taskNanos != 0 then
      requests.times.note(System.nanoTime() - taskNanos)
      taskNanos = 0
    cancel.mayAnswer()

  /** Answers for an error, unless the response has begun or the client has gone. */
  private def answerFailure(error: Throwable): Task[Unit] =
    if !mayAnswer() then Task.canceled
    else if error.isInstanceOf[ConnectionLost] || out.isCommitted then Task.fail(error)
    else
      writer.reset()
      val response = failure(error)
      writer.send(response, isLast(response))

  /** Returns true if the connection ends with `response`. What is left of the request's body is not
    * worth a connection. A response that is streamed may still read it.
    */
  private def isLast(response: Response): Boolean =
    requests.isDraining || body.isThere && response.body.inMemory != null && {
      body.end()
      !in.consumeAvailable()
    }

  private def failure(error: Throwable): Response = error match
    case error: HttpError => Response.text(s"${error.getMessage}\n", error.status)
    case error =>
      requests.log.failed(in, error)
      Exchange.internalError

  /** Sends what is left, when the task has ended. An error of that, too, ends the exchange. */
  override def apply(outcome: Outcome[Unit]): Unit =
    try complete(outcome)
    catch case error: Throwable => fail(error)

  private def complete(outcome: Outcome[Unit]): Unit =
    outcome match
      case Outcome.Succeeded(_) => finish()
      case Outcome.Failed(error) => fail(error)
      case Outcome.Canceled =>
        cancel.reason match
          case Exchange.Reason.ClientGone => abort(IOException("The client has gone."))
          case Exchange.Reason.Drained => answerOrAbort(Requests.stopping)
          case Exchange.Reason.BodyLate => answerOrAbort(Exchange.bodyLate)
          case Exchange.Reason.HandlerLate => answerOrAbort(Exchange.handlerLate)
          case null =>
            requests.log.failed(in, IllegalStateException("The handler has cancelled itself."))
            answerOrAbort(Exchange.internalError)

  private def answerOrAbort(response: Response): Unit =
    if out.isCommitted then abort(IOException("The request was cancelled."))
    else
      writer.reset()
      writer.begin(response, isLast(response))
      finish()

  /** Sends the end of the response. The fiber has ended: a write that waits for the client is cut.
    */
  private def finish(): Unit =
    writer.finish(this)
    if !isSent then cancel.goesOn(() => if !isSent then endPoint.abort())

  override def getInvocationType: Invocable.InvocationType = Invocable.InvocationType.NON_BLOCKING

  override def succeeded(): Unit =
    isSent = true
    requests.served(in, out.getStatus, writer.sentBytes)
    releaseThen(completion.succeeded())

  override def failed(error: Throwable): Unit =
    isSent = true
    fail(ConnectionLost.orElse(error))

  private def fail(error: Throwable): Unit =
    error match
      case _: ConnectionLost =>
      case error: HttpError if error.status < 500 => // the fault is the client's
      case error => requests.log.failed(in, error)
    abort(error)

  /** Closes the connection so that the client sees an error, and not the end of the response. */
  private def abort(error: Throwable): Unit =
    requests.served(in, Requests.aborted, writer.sentBytes)
    makeRoom()
    endPoint.abort()
    releaseThen(completion.failed(error))

  /** Frees what the body of the response holds, even if that was not sent, and then ends the
    * request.
    */
  private def releaseThen(end: => Unit): Unit =
    this.body.end()
    def completed() =
      try end
      finally requests.ended()
    val body = if response == null then null else response.nn.body
    if body == null || (body.release eq Task.unit) then completed()
    else
      body.release
        .handleErrorWith(error => Task.delay(requests.log.failed(in, error)))
        .runAsync(_ => completed())(using requests.runtime): Unit

  /** Lowers the count that the limit of requests looks at, once. */
  private def makeRoom(): Unit =
    if isAdmitted then
      isAdmitted = false
      requests.answering()

private[server] object Exchange:
  /** The reason for which a task is cancelled from outside. */
  enum Reason:
    case ClientGone, Drained, BodyLate, HandlerLate

  private val goesOn: Predicate[TimeoutException] = _ => false

  val bodyLate: Response = Response.text("The body did not arrive in time.\n", 408)
  val handlerLate: Response = Response.text("The request took too long.\n", 503)
  val internalError: Response = Response.text("Internal Server Error\n", 500)

  private def checked(response: Response | Null): Response =
    if response == null then throw NullPointerException("The handler has returned no response.")
    if response.body == null then
      throw NullPointerException("The handler has returned a response whose body is null.")
    if response.status < 200 || response.status > 599 then
      throw IllegalStateException(
        s"The handler's response has the status ${response.status}. It must be from 200 to 599."
      )
    response
