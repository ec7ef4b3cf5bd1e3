package weir.cli.relay

import scala.concurrent.duration.*

import weir.{Stream, Task}
import weir.program.ErrorTerminal

/** Runs the relay's stream, and shows how far it is. */
private[relay] object RelayProgress:
  private val onTerminal = 200.millis
  private val elsewhere = 2.seconds

  /** Runs `work` until `isOver` has ended, or without an end if `follows` is true.
    *
    * @param line
    *   the text to show
    */
  def beside(work: Stream[Any], line: => String, isOver: Task[Any], follows: Boolean): Task[Unit] =
    val until = if follows then isOver.forever else isOver
    val shown = Task.defer {
      if ErrorTerminal.isThere then
        val terminal = ErrorTerminal(System.err)
        Task
          .delay(terminal.accept(line))
          .delayBy(onTerminal)
          .forever
          .guarantee(Task.delay(terminal.clear()))
      else
        Task
          .delay {
            System.err.println(line)
            System.err.flush()
          }
          .delayBy(elsewhere)
          .forever
    }
    shown.background.use(_ => work.interruptWhen(until).drain)
