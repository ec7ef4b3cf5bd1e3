package weir.feeds.give

import java.io.PrintWriter
import java.time.ZoneId
import scala.concurrent.duration.*

import weir.{Deferred, Task}
import weir.feeds.reader.{ItemLines, LocalTime}
import weir.feeds.store.Outbox
import weir.program.Text

/** Gives new items to `receiver`, one at a time, while feeds are being fetched and after it. */
final class Giver(outbox: Outbox, receiver: Receiver, option: String, err: PrintWriter):
  private val lines = ItemLines(LocalTime(ZoneId.systemDefault))
  // One fiber at a time gives items.
  private var failed = Set.empty[Long]
  @volatile private var hasFailedOnce = false

  /** Returns true if an item could not be given. */
  def hasFailed: Boolean = hasFailedOnce

  /** Runs `pass`, and then waits until all items that can be given are given. An item that cannot
    * be given stays for the next call, or the next process.
    *
    * **Cancelled**: a command that runs is killed, and its item stays to be given.
    */
  def during(pass: Task[Unit]): Task[Unit] =
    for
      isOver <- Deferred[Unit]
      _ <- Task.delay { failed = Set.empty }
      _ <- Task.both(pass.flatMap(_ => isOver.complete(())), giveUntil(isOver))
      _ <- Task.when(failed.size > Giver.toldFailures)(Task.delay(tellRest()))
    yield ()

  /** Asks whether the pass is over before it looks what there is to give: nothing is left out. */
  private def giveUntil(isOver: Deferred[Unit]): Task[Unit] =
    for
      before <- isOver.tryGet
      _ <- giveAll(0)
      _ <- Task.when(before.isEmpty):
        Task.race(isOver.get, Task.sleep(Giver.pause)) >> giveUntil(isOver)
    yield ()

  private def giveAll(last: Long): Task[Unit] =
    Task
      .delay(outbox.page(last, Giver.pageSize))
      .flatMap: page =>
        Task.when(page.nonEmpty):
          page.filterNot(failed).foldLeft(Task.unit)((before, id) => before >> give(id)) >>
            giveAll(page.last)

  /** Between the end of the command and the note that the item is given there is no cancel. */
  private def give(id: Long): Task[Unit] = Task.uncancelable: poll =>
    Task
      .delay(outbox.take(id))
      .flatMap:
        case None => Task.unit
        case Some((item, details)) =>
          poll(receiver.give(lines.json(item, details)))
            .onCancel(Task.delay(outbox.giveBack(id)))
            .flatMap(problem => Task.delay(settle(id, problem)))

  private def settle(id: Long, problem: Option[String]): Unit = problem match
    case None => outbox.remove(id)
    case Some(why) =>
      outbox.giveBack(id)
      failed += id
      hasFailedOnce = true
      if failed.size <= Giver.toldFailures then
        err.println(s"weir feeds: $option: $why; item $id is given again by the next run")

  private def tellRest(): Unit =
    val rest = failed.size - Giver.toldFailures
    err.println(s"weir feeds: $option: ${Text.count(rest, "more item")} could not be given")

object Giver:
  private val pause = 300.millis
  private val pageSize = 100

  /** The number of failures of a pass that are reported one by one. */
  private val toldFailures = 3
