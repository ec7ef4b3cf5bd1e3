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
private[run] final class DocumentExecutors private (middle: Semaphore, large: Semaphore):
  import DocumentExecutors.*

  /** What `body` returns, which gets the executor at which the document of `answer`, if it has one, is
    * read and stored. Its content is closed then.
    *
    * **Waits** for a executor that is free.
    */
  def around[A](answer: Answer)(body: DocumentExecutor => Task[A]): Task[A] = within(DocumentExecutor.Fiber, answer)(body)

  /** As `around`, at `executor` where that is one for large documents: who has one never waits for
    * another.
    */
  def within[A](executor: DocumentExecutor, answer: Answer)(body: DocumentExecutor => Task[A]): Task[A] =
    answer match
      case Answer.Document(content, _, _, _, _, _, _, _) =>
        val work = executor match
          case DocumentExecutor.Thread => body(executor)
          case DocumentExecutor.Fiber => chosen(content)(body)
        work.guarantee(Task.delay(content.close()))
      case _ => body(executor)

  private def chosen[A](content: Content)(body: DocumentExecutor => Task[A]): Task[A] =
    if content.size <= smallBytes then body(DocumentExecutor.Fiber)
    else (if content.size <= middleBytes then middle else large).withPermit(body(DocumentExecutor.Thread))

private[run] object DocumentExecutors:
  enum DocumentExecutor:
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
  def forProcessors(processors: Int): Task[DocumentExecutors] =
    for
      middle <- Semaphore(processors)
      large <- Semaphore((processors / 4) max 1 min 4)
    yield DocumentExecutors(middle, large)
