package weir.feeds.manage

import java.io.PrintWriter

import weir.feeds.store.{Database, FeedEdits, FeedStore}
import weir.program.Text

/** The whole of `weir feeds remove`, `enable` and `disable`. */
final class EditJob(db: String, edit: EditJob.Edit, typed: Vector[String], out: PrintWriter):
  /** Runs the change, and returns the exit code. **Fails** with a [[weir.program.BadInput]], and
    * changes nothing, if one of the feeds does not exist.
    */
  def run(): Int =
    val store = FeedStore.existing(Database.of(db))
    try
      val place = s"weir feeds ${edit.command}"
      val edits = FeedEdits(store)
      val ids = typed.map(edits.find(place, _)).distinct
      val changed = ids.count(edit.apply(edits, _))
      val rest = ids.size - changed
      val already = if rest == 0 then "" else s", ${Text.grouped(rest)} ${edit.done} already"
      out.println(s"${Text.count(changed, "feed")} ${edit.done}$already")
      0
    finally store.close()

object EditJob:
  /** @param done
    *   the word for a feed to which it has been done
    */
  enum Edit(val command: String, val done: String):
    case Remove extends Edit("remove", "removed")
    case Enable extends Edit("enable", "enabled")
    case Disable extends Edit("disable", "disabled")

    /** Returns true if the feed with the number `id` was not so before. */
    private[EditJob] def apply(edits: FeedEdits, id: Long): Boolean = this match
      case Remove => edits.remove(id)
      case Enable => edits.enable(id)
      case Disable => edits.disable(id)
