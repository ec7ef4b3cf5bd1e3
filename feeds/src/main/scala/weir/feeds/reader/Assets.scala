package weir.feeds.reader

import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Using

/** The files that pages are made with: all that a page may load. */
private[reader] object Assets:
  val script = "/reader.js"
  val style = "/reader.css"
  val icon = "/icon.svg"

  /** The file at `path`, if it is one of these. */
  def reply(path: String): Option[Reply] = replies.get(path)

  private lazy val replies = Map(
    script -> "text/javascript",
    style -> "text/css",
    icon -> "image/svg+xml"
  ).map((path, kind) => path -> Reply(200, s"$kind; charset=utf-8", text(path.drop(1))))

  private def text(name: String): String =
    Using.resource(getClass.getResourceAsStream(name))(in => String(in.readAllBytes(), UTF_8))
