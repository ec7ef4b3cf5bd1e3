package weir.cli.feeds

import java.nio.file.Path
import scala.concurrent.duration.*

import weir.cli.feeds.input.ByteSize

/** What the options ask for, checked and complete.
  *
  * @param timeout
  *   none means the usual one: [[Settings.usualTimeout]], or [[Settings.siteTimeout]] if there is
  *   nothing but the local site to fetch
  * @param perHost
  *   none means [[Settings.usualPerHost]], or [[Settings.sitePerHost]] for the local site
  * @param lease
  *   for how long a process that was killed keeps its feeds from others
  * @param isStrict
  *   whether a single bad line of the input refuses all of it
  * @param allowsPrivate
  *   whether a public address may redirect to a private one
  * @param siteSize
  *   how many feeds a new local site has; the demo is meant if it is given
  */
final case class Settings(
    db: Option[String],
    opml: Option[Path],
    urls: Option[Path],
    isStrict: Boolean,
    parallel: Int,
    perHost: Option[Int],
    stale: FiniteDuration,
    lease: FiniteDuration,
    timeout: Option[FiniteDuration],
    retries: Int,
    maxBodyBytes: Int,
    allowsPrivate: Boolean,
    isWatching: Boolean,
    showsStages: Boolean,
    json: Option[Path],
    report: Option[Path],
    seed: Option[Long],
    siteSize: Option[Int],
    speed: Double
)

object Settings:
  val usualTimeout: FiniteDuration = 15.seconds
  val siteTimeout: FiniteDuration = 8.seconds
  val usualPerHost = 4
  val sitePerHost = 100
  val usualSiteSize = 500

  def size(option: String, text: String): Int = ByteSize.parse(option, text)
