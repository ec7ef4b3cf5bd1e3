package weir.feeds

import java.nio.file.Path
import scala.concurrent.duration.*

import weir.feeds.store.Retention
import weir.program.{BadInput, ByteSize}

/** The settings of `weir feeds`: its options, checked and complete.
  *
  * @param timeout
  *   none means the usual one: [[FeedsSettings.usualTimeout]], or [[FeedsSettings.siteTimeout]] if
  *   there is nothing but the local site to fetch
  * @param perHost
  *   none means [[FeedsSettings.usualPerHost]], or [[FeedsSettings.sitePerHost]] for the local site
  * @param hostPause
  *   none means [[FeedsSettings.usualHostPause]], or no pause for this machine
  * @param lease
  *   the time for which a killed process keeps its feeds from others
  * @param isStrict
  *   true if a single bad line of the input refuses all of it
  * @param allowsPrivate
  *   true if servers may name private addresses
  * @param userAgent
  *   none means the program's own name
  * @param siteSize
  *   the number of feeds of a new local site. If it is given, the run is a demo
  * @param gives
  *   the receiver of new items
  */
final case class FeedsSettings(
    db: Option[String],
    opml: Option[Path],
    urls: Option[Path],
    isStrict: Boolean,
    parallel: Int,
    perHost: Option[Int],
    hostPause: Option[FiniteDuration],
    stale: FiniteDuration,
    lease: FiniteDuration,
    timeout: Option[FiniteDuration],
    retries: Int,
    maxBodyBytes: Int,
    allowsPrivate: Boolean,
    userAgent: Option[String],
    isWatching: Boolean,
    isQuiet: Boolean,
    showsStages: Boolean,
    json: Option[Path],
    report: Option[Path],
    seed: Option[Long],
    siteSize: Option[Int],
    siteLarge: Int,
    speed: Double,
    retention: Retention,
    gives: Option[FeedsSettings.Gives]
)

object FeedsSettings:
  /** The receiver of new items. */
  enum Gives(val option: String):
    /** A command for the shell. */
    case Exec(command: String) extends Gives("--exec")

    /** Standard output. */
    case Print extends Gives("--new-items")

  val usualTimeout: FiniteDuration = 15.seconds
  val siteTimeout: FiniteDuration = 8.seconds
  val usualPerHost = 4
  val sitePerHost = 100
  val usualSiteSize = 500
  val usualHostPause: FiniteDuration = 250.millis

  /** **Fails** with [[BadInput]] that names `option` if no header can have `text`.
    */
  def userAgent(option: String, text: String): String =
    if text.isBlank || !text.forall(char => char >= ' ' && char < 0x7f) then
      throw BadInput(
        option,
        "it must be printable ASCII characters.",
        "Write it like my-reader/1.0 (+https://example.org/)."
      )
    text.trim

  def size(option: String, text: String): Int =
    ByteSize.parse(option, text, least = 1, most = 1_000_000_000L).toInt
