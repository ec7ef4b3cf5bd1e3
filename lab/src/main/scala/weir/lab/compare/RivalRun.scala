package weir.lab.compare

import java.io.PrintWriter
import java.util.concurrent.CompletableFuture

import weir.lab.RivalJvm
import weir.lab.ChildOutput.Message
import weir.lab.compare.SideBySide.Place

/** Runs Cats Effect and fs2 in a JVM of their own, and reports their progress on the board.
  *
  * It goes through the same windows of loads as this program, which begins each when it does.
  */
final class RivalRun(
    settings: CompareSettings,
    windows: Seq[Seq[Load]],
    board: Board,
    err: PrintWriter
):
  private val begun = windows.map(loads => loads -> CompletableFuture[Unit]()).toMap
  private val ended = CompletableFuture[Boolean]()

  /** Starts the JVM; it loads its classes first. */
  def start(tasksPerLetter: Int): Unit =
    val jvm = RivalJvm(
      experiment = "compare",
      system = "cats-effect",
      options = Seq(
        "ways" -> settings.rivalWays.map(_.name).mkString(","),
        "windows" -> windows.map(_.map(_.name).mkString(",")).mkString(";"),
        "seed" -> settings.lab.seed,
        "speed" -> settings.speed,
        "warmUpMillis" -> settings.warmUp.toMillis,
        "tasksPerLetter" -> tasksPerLetter
      )
    )
    val _ = Thread.ofPlatform().daemon().start(() => watch(jvm))

  /** **Waits** until it has begun with `loads`; also until it has ended without.
    */
  def awaitBegin(loads: Seq[Load]): Unit = begun(loads).join()

  /** **Waits** until it has ended with `loads`, so that it has begun with those after them, or is
    * gone.
    */
  def awaitOver(loads: Seq[Load]): Unit =
    windows.lift(windows.indexOf(loads) + 1) match
      case Some(next) => awaitBegin(next)
      case None => await(): Unit

  /** Returns true if it went well. **Waits** for its end. **Fails** if it could not be started. */
  def await(): Boolean = ended.join()

  private def watch(jvm: RivalJvm): Unit =
    try
      val isComplete = jvm.run(err)(hear)
      ended.complete(isComplete): Unit
    catch case error: Throwable => ended.completeExceptionally(error): Unit
    finally
      board.abandon(places, "its JVM has ended")
      begun.values.foreach(_.complete(()))

  private def hear(message: Message): Unit = message match
    case Message.Measured(result) => place(result.name).foreach(board.ended(_, result.value))
    case Message.Failed(name, _, why) => place(name).foreach(board.failed(_, why))
    case Message.Event(json) =>
      Event.fromJson(json) match
        case Event.Begins(loads) => begun(loads).complete(()): Unit
        case Event.Progress(place, letters) => board.progress(place, letters)
        case Event.Hung(place, why) => board.hung(place, why)

  private def places: Seq[Place] = settings.places.filter(place => place.system == place.way.rival)

  private def place(name: String): Option[Place] = places.find(_.name == name)
