package weir.cli.feeds.run

import weir.{Semaphore, Task}
import weir.cli.feeds.fetch.{Answer, Content}

/** Decides where documents are parsed and stored, so that a large one holds up nothing else.
  *
  * Small ones take less than the time after which a fiber yields by itself, and are read on the
  * fiber. All others have a thread of the operating system: the carriers go on with the requests of
  * other feeds. How many are read at once is limited, by their memory and for the processors: large
  * ones have a limit of their own, so that others do not queue behind them.
  */
private[run] final class Desks private (middle: Semaphore, large: Semaphore):
  import Desks.*

  /** What `body` returns, which gets the desk at which the document of `answer`, if it has one, is
    * read and stored. Its content is closed then.
    *
    * **Waits** for a desk that is free.
    */
  def around[A](answer: Answer)(body: Desk => Task[A]): Task[A] = within(Desk.Fiber, answer)(body)

  /** As `around`, at `desk` where that is one for large documents: who has one never waits for
    * another.
    */
  def within[A](desk: Desk, answer: Answer)(body: Desk => Task[A]): Task[A] =
    answer match
      case Answer.Document(content, _, _, _, _, _, _, _) =>
        val work = desk match
          case Desk.Thread => body(desk)
          case Desk.Fiber => chosen(content)(body)
        work.guarantee(Task.delay(content.close()))
      case _ => body(desk)

  private def chosen[A](content: Content)(body: Desk => Task[A]): Task[A] =
    if content.size <= smallBytes then body(Desk.Fiber)
    else (if content.size <= middleBytes then middle else large).withPermit(body(Desk.Thread))

private[run] object Desks:
  enum Desk:
    case Fiber, Thread

    /** The value of `work`, done here. */
    def apply[A](work: => A): Task[A] =
      this match
        case Fiber => Task.delay(work)
        case Thread => Task.onPlatformThread(work)

  /** Parsing so much takes a millisecond or two. */
  private val smallBytes = 64 * 1024

  private val middleBytes = 1024 * 1024

  /** A feed of 7 MB takes 100 MB while it is parsed and stored. */
  def forProcessors(processors: Int): Task[Desks] =
    for
      middle <- Semaphore(processors)
      large <- Semaphore((processors / 4) max 1 min 4)
    yield Desks(middle, large)
