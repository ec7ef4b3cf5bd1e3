package weir.lab.compare

import java.io.{ByteArrayOutputStream, PrintStream}
import scala.concurrent.duration.*

import weir.lab.LabOptions
import weir.lab.compare.SideBySide.Place

class DisplaySuite extends munit.FunSuite:

  private val settings = CompareSettings(
    Load.values.toVector,
    Way.values.toVector,
    CompareSettings.systems,
    speed = 1,
    warmUp = Duration.Zero,
    LabOptions.Checked(seed = 1, isQuick = false, json = None, report = None)
  )

  private def drawn(rows: Int, out: PrintStream = System.err): Display =
    Display.Redrawn(out, rows, columns = 80, settings)

  test("as many loads run at a time as the terminal has lines for"):
    val loads = Load.values.toVector
    assertEquals(drawn(rows = 24).windows(loads), Vector(loads.take(2), loads.drop(2)))
    assertEquals(drawn(rows = 28).windows(loads), Vector(loads))
    assertEquals(drawn(rows = 5).windows(loads), loads.map(Vector(_)))

  test("the last that is drawn has the letters and the time of both runs of a way"):
    val bytes = ByteArrayOutputStream()
    val board = Board(settings.places, _ => ())
    drawn(rows = 24, PrintStream(bytes)).during(Seq(Load.Balanced), board):
      board.progress(Place(Load.Balanced, Way.Queue, "weir"), "PPC")
      board.ended(Place(Load.Balanced, Way.Queue, "weir"), 12_345)
      board.progress(Place(Load.Balanced, Way.Queue, "cats-effect"), "PC")
      board.hung(Place(Load.Balanced, Way.Hang, "cats-effect"), "hangs")
    val lines = bytes.toString.replaceAll("\u001b\\[[0-9]*[a-zA-Z]|\r", "").linesIterator.toVector
    val last = lines.takeRight(1 + Way.values.length)
    assert(clue(last.head).matches("balanced +weir +cats-effect, fs2"))
    assert(last.exists(_.matches("queue +PPC +12.35 s +PC")), clue(last))
    assert(last.exists(_.matches("hang +hangs")), clue(last))
