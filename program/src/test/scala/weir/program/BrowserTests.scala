package weir.program

import java.nio.file.{Files, Path}
import java.util.Comparator
import scala.concurrent.duration.*

import munit.FunSuite

/** A suite with tests that look at pages in a real browser, and are skipped where there is none.
  * Screenshots are left in `target/screenshots` of its module, to be looked at.
  */
trait BrowserTests extends FunSuite:
  override def munitTimeout: Duration = 3.minutes

  private val isThere = Browser.find().nonEmpty
  lazy val browser: Browser = Browser.shared

  /** A folder for the files of the suite. */
  val files: Path = Files.createTempDirectory("weir-browser")

  override def beforeAll(): Unit =
    if !isThere then
      println(s"$getClass is skipped: there is no chromium or google-chrome on the PATH")

  override def afterEach(context: AfterEach): Unit = if isThere then browser.closeTabs()

  override def afterAll(): Unit =
    Files.walk(files).sorted(Comparator.reverseOrder).forEach(Files.deleteIfExists(_): Unit)

  /** Skips the test where there is no browser. */
  def needsBrowser(): Unit = assume(isThere, "there is no Chromium")

  /** Leaves a screenshot. */
  def keep(name: String, tab: Browser.Tab): Unit =
    val target = Path.of(sys.props.getOrElse("weir.screenshots", "target/screenshots"))
    Files.createDirectories(target)
    Files.write(target.resolve(s"$name.png"), tab.screenshot()): Unit

  /** The expression of the page for the texts of charts that reach beyond their chart. */
  val cutTexts: String =
    """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
      |  const edge = svg.getBoundingClientRect();
      |  return [...svg.querySelectorAll('text')]
      |    .filter(text => {
      |      const box = text.getBoundingClientRect();
      |      return box.right > edge.right + 1 || box.left < edge.left - 1 ||
      |        box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
      |    })
      |    .map(text => text.textContent);
      |})""".stripMargin
