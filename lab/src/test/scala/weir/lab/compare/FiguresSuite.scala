package weir.lab.compare

import scala.concurrent.duration.*

import weir.lab.LabOptions
import weir.lab.compare.SideBySide.Place
import weir.program.Result

class FiguresSuite extends munit.FunSuite:

  private def settings(systems: String*): CompareSettings =
    CompareSettings(
      Vector(Load.SlowProducer),
      Vector(Way.Stream, Way.Hang),
      systems.toVector,
      speed = 1000,
      warmUp = Duration.Zero,
      LabOptions.Checked(seed = 1, isQuick = false, json = None, report = None)
    )

  private val all = settings("weir", "cats-effect", "fs2")
  private def place(way: Way, system: String): Place = Place(Load.SlowProducer, way, system)
  private def boundMillis(way: Way): Double =
    way.boundNanos(all.plan(Load.SlowProducer)) / 1e6

  private def board(settings: CompareSettings): Board = Board(settings.places, _ => ())

  test("each way has its bound, Weir's time and the rival's; what hangs has no result"):
    val board = this.board(all)
    board.ended(place(Way.Stream, "weir"), 11)
    board.ended(place(Way.Stream, "fs2"), 12)
    board.ended(place(Way.Hang, "weir"), 13)
    board.hung(place(Way.Hang, "cats-effect"), "hangs: after 3.0 s 0 of 1000 tasks produced")
    assertEquals(
      Figures(all, board).results,
      Vector(
        Result.millis("slow-producer: stream", "bound", boundMillis(Way.Stream)),
        Result.millis("slow-producer: stream", "weir", 11),
        Result.millis("slow-producer: stream", "fs2", 12),
        Result.millis("slow-producer: hang", "bound", boundMillis(Way.Hang)),
        Result.millis("slow-producer: hang", "weir", 13)
      )
    )
    assertEquals(Figures(all, board).problems, Vector())

  test("the table has times in seconds and their ratios to the bound"):
    val board = this.board(all)
    val bound = boundMillis(Way.Stream)
    board.ended(place(Way.Stream, "weir"), bound * 2)
    board.ended(place(Way.Stream, "fs2"), bound * 3)
    board.hung(place(Way.Hang, "cats-effect"), "hangs")
    val table = Figures(all, board).table
    val seconds = Seq(1, 2, 3).map(times => f"${bound * times / 1000}%.3f")
    assert(
      clue(table(2)).matches(
        s"slow-producer: stream +${seconds(0)} +${seconds(1)} +2.000 +fs2 +${seconds(2)} +3.000"
      )
    )
    assert(clue(table(3)).matches("slow-producer: hang +[0-9.]+ +failed +cats-effect +hangs"))
    assertEquals(
      table.drop(4),
      Vector(
        "weir: at most 2.000 times the bound (slow-producer: stream)",
        "fs2: at most 3.000 times the bound (slow-producer: stream)"
      )
    )

  test("a run of Weir without a figure is a problem, whatever the reason"):
    val board = this.board(all)
    board.hung(place(Way.Hang, "weir"), "hangs: after 3.0 s nothing")
    assertEquals(
      Figures(all, board).problems,
      Vector(
        "weir, slow-producer: stream: no result, since it did not end",
        "weir, slow-producer: hang: no result, since hangs: after 3.0 s nothing"
      )
    )

  test("what is not asked for has no result and no problem"):
    val only = settings("fs2")
    val board = this.board(only)
    board.ended(place(Way.Stream, "fs2"), 12)
    assertEquals(Figures(only, board).results.map(_.system), Vector("bound", "fs2", "bound"))
    assertEquals(Figures(only, board).problems, Vector())

  test("runs that will report no more have failed"):
    val board = this.board(all)
    board.ended(place(Way.Stream, "fs2"), 12)
    board.abandon(all.places, "its JVM has ended")
    assertEquals(board(place(Way.Stream, "fs2")), Board.State.Ended("", 12))
    assertEquals(board(place(Way.Stream, "weir")), Board.State.Failed("", "its JVM has ended"))
