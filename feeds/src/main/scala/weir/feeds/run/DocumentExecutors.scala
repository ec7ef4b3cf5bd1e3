package weir.feeds.run

import weir.{Semaphore, Task}
import weir.feeds.fetch.{Answer, Content}

/** Decides where documents are parsed and stored, so that a large one delays nothing else.
  *
  * A small document takes less time than a fiber's time slice, and is read on the fiber. Every
  * other document gets an OS thread, so the carriers go on with the requests of other feeds. Two
  * limits bound how many documents are read at once, for the sake of memory and processors. Large
  * documents have a limit of their own, so that the others do not queue behind them.
  */
private[run] final class DocumentExecutors private (middle: Semaphore, large: Semaphore):
  import DocumentExecutors.*

  /** Runs `body` with the executor on which to read and store the document of `answer`, if it has
    * one. The content of the document is closed at the end.
    *
    * **Waits** for a free executor.
    */
  def around[A](answer: Answer)(body: DocumentExecutor => Task[A]): Task[A] =
    within(DocumentExecutor.Fiber, answer)(body)

  /** As `around`, but reuses `executor` if that is a thread: its holder never waits for another
    * one.
    */
  def within[A](executor: DocumentExecutor, answer: Answer)(
      body: DocumentExecutor => Task[A]
  ): Task[A] =
    answer match
      case Answer.Document(content, _, _, _, _, _, _, _) =>
        val work = executor match
          case DocumentExecutor.Thread => body(executor)
          case DocumentExecutor.Fiber => chosen(content)(body)
        work.guarantee(Task.delay(content.close()))
      case _ => body(executor)

  private def chosen[A](content: Content)(body: DocumentExecutor => Task[A]): Task[A] =
    if content.size <= smallBytes then body(DocumentExecutor.Fiber)
    else
      (if content.size <= middleBytes then middle else large)
        .withPermit(body(DocumentExecutor.Thread))

private[run] object DocumentExecutors:
  enum DocumentExecutor:
    case Fiber, Thread

    /** Runs `work` on this executor. */
    def apply[A](work: => A): Task[A] =
      this match
        case Fiber => Task.delay(work)
        case Thread => Task.onPlatformThread(work)

  /** Parsing a document of this size takes a millisecond or two. */
  private val smallBytes = 64 * 1024

  private val middleBytes = 1024 * 1024

  /** Returns executors whose limits keep memory small: a feed of 7 MB takes 100 MB while it is
    * parsed and stored.
    */
  def forProcessors(processors: Int): Task[DocumentExecutors] =
    for
      middle <- Semaphore(processors)
      large <- Semaphore((processors / 4) max 1 min 4)
    yield DocumentExecutors(middle, large)
