package weir

/** A piece of a task that has computed for over 200 ms without giving way, and so held its carrier. See `Runtime.onSpin`.
  *
  * @param fiber the name of the fiber, as traces and dumps have it
  * @param thread the thread that runs it
  * @param trace the line at which it was found, those that called it, and then the fiber's own
  */
final class Spin private[weir] (
    val fiber: String,
    val thread: Thread,
    val trace: Vector[StackTraceElement]
):
  override def toString: String =
    s"Fiber $fiber has computed for over 200 ms without giving way, on ${Spin.nameOf(thread)}. " +
      "Fibers that wait for that carrier are late. Let it give way with Task.cede, or compute on a thread of its own." +
      trace.map(line => s"\n\tat $line").mkString

private[weir] object Spin:
  def nameOf(thread: Thread): String = s"${thread.getName}#${thread.threadId}"
