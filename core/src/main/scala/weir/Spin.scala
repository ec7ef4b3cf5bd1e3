package weir

/** A report of a task that has computed for over 200 ms without yielding, and has occupied its
  * carrier meanwhile. See `WeirRuntime.onSpin`.
  *
  * @param fiber the name of the fiber, as in traces and dumps
  * @param thread the thread that runs it
  * @param trace the line at which it was found, the lines that called it, and then those of the
  *   fiber
  */
final class Spin private[weir] (
    val fiber: String,
    val thread: Thread,
    val trace: Vector[StackTraceElement]
):
  override def toString: String =
    s"Fiber $fiber has computed for over 200 ms without yielding, on ${Spin.nameOf(thread)}. " +
      "Fibers that wait for that carrier are late. Let it yield with Task.cede, or compute on a " +
      "thread of its own." +
      trace.map(line => s"\n\tat $line").mkString

private[weir] object Spin:
  def nameOf(thread: Thread): String = s"${thread.getName}#${thread.threadId}"
