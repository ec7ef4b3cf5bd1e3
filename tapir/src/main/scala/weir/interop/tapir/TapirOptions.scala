package weir.interop.tapir

import _root_.sttp.model.StatusCode
import _root_.sttp.monad.MonadError
import _root_.sttp.tapir.model.ServerRequest
import _root_.sttp.tapir.server.interceptor.exception.{
  DefaultExceptionHandler,
  ExceptionContext,
  ExceptionHandler
}
import _root_.sttp.tapir.server.interceptor.log.DefaultServerLog
import _root_.sttp.tapir.server.interceptor.{CustomiseInterceptors, Interceptor}
import _root_.sttp.tapir.server.model.ValuedEndpointOutput
import _root_.sttp.tapir.{Defaults, TapirFile, statusCode, stringBody}
import weir.Task
import weir.http.HttpError

/** The options of a server for tapir.
  *
  * @param interceptors
  *   the interceptors of tapir, the first one outermost: see `TapirOptions.customiseInterceptors`
  * @param createFile
  *   makes the file for a body, or a part, that an endpoint wants as a file
  * @param deleteFile
  *   deletes such a file, after the response
  */
final case class TapirOptions(
    interceptors: List[Interceptor[Task]],
    createFile: ServerRequest => Task[TapirFile] = _ => Task(Defaults.createTempFile()),
    deleteFile: TapirFile => Task[Unit] = file => Task(Defaults.deleteFile()(file))
)

object TapirOptions:
  /** The options with tapir's default interceptors. They log to the `System.Logger` called
    * `weir.tapir`: errors of endpoints at the level ERROR, requests at the level DEBUG.
    */
  val default: TapirOptions = customiseInterceptors.options

  /** Returns the interceptors of `default`, to be changed, by tapir's own methods.
    * {{{
    * val options = TapirOptions.customiseInterceptors
    *   .corsInterceptor(CORSInterceptor.default[Task])
    *   .options
    * }}}
    */
  def customiseInterceptors: CustomiseInterceptors[Task, TapirOptions] =
    CustomiseInterceptors[Task, TapirOptions](changed => TapirOptions(changed.interceptors))
      .serverLog(log)
      .exceptionHandler(Errors)

  private object Errors extends ExceptionHandler[Task]:
    private val others = DefaultExceptionHandler[Task]

    override def apply(context: ExceptionContext)(implicit
        monad: MonadError[Task]
    ): Task[Option[ValuedEndpointOutput[?]]] = context.e match
      case error: HttpError =>
        val output = statusCode.and(stringBody)
        Task.pure(
          Some(ValuedEndpointOutput(output, (StatusCode(error.status), error.getMessage)))
        )
      case _ => others(context)

  private val logger = System.getLogger("weir.tapir")

  private def debug(text: String, error: Option[Throwable]): Task[Unit] =
    Task.delay(logger.log(System.Logger.Level.DEBUG, text, error.orNull))

  private def log: DefaultServerLog[Task] = DefaultServerLog(
    doLogWhenReceived = debug(_, None),
    doLogWhenHandled = debug,
    doLogAllDecodeFailures = debug,
    doLogExceptions = {
      case (text, error: HttpError) => debug(text, Some(error))
      case (text, error) => Task.delay(logger.log(System.Logger.Level.ERROR, text, error))
    },
    noLog = Task.unit
  )
