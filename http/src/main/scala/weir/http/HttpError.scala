package weir.http

/** An error with a status. A handler that fails with it answers with that status, and with the
  * message as text. The server does not log it.
  * {{{
  * def user(id: Long): Task[String] =
  *   find(id).flatMap {
  *     case Some(name) => Task.pure(name)
  *     case None => Task.fail(HttpError(404, s"There is no user $id."))
  *   }
  * }}}
  *
  * @param status
  *   400 to 599
  */
class HttpError(val status: Int, message: String, cause: Throwable | Null = null)
    extends RuntimeException(message, cause):
  require(
    status >= 400 && status <= 599,
    s"HttpError: the status was $status. It must be from 400 to 599."
  )

/** A body has more bytes than it may have. A handler that fails with it answers with status 413. */
final class BodyTooLarge(val limitBytes: Long)
    extends HttpError(413, s"The body has more than $limitBytes bytes.")

/** The body of a response has more bytes than may be read. It is not an [[HttpError]]: if a handler
  * fails with it, the status is 500, since the client of that handler has not sent too much.
  */
final class ResponseTooLarge(val limitBytes: Long)
    extends RuntimeException(
      s"The body of the response has more than $limitBytes bytes. Allow more by " +
        "ClientSettings.bodyLimitBytes, or read it block by block, by HttpClient.stream."
    )
