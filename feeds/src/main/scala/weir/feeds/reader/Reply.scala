package weir.feeds.reader

import org.eclipse.jetty.http.HttpHeader

/** The answer to a request, without the headers that all answers have. */
private[reader] final case class Reply(
    status: Int,
    contentType: String,
    body: String,
    headers: Seq[(HttpHeader, String)] = Nil
)

private[reader] object Reply:
  def html(page: String): Reply = Reply(200, "text/html; charset=utf-8", page)

  /** Returns an answer with an error, in one line of text. */
  def problem(status: Int, text: String): Reply =
    Reply(status, "text/plain; charset=utf-8", s"${PlainText.line(text)}\n")
