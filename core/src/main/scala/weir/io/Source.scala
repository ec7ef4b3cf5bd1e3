package weir.io

import weir.Task

/** An object that a stream reads its elements from, one after the other, in plain code: a cursor, a
  * parser, a socket. `Stream.fromSource` makes a stream of it.
  *
  * {{{
  * final class Lines(reader: BufferedReader) extends Source[String]:
  *   def next()(using Task.Direct): String | Source.End =
  *     val line = reader.readLine()
  *     if line == null then Source.End else line
  *   override def close()(using Task.Direct): Unit = reader.close()
  *
  * val lines = Stream.fromSource(Task(Lines(Files.newBufferedReader(path))))
  * }}}
  *
  * A source belongs to one run of a stream. Its methods are called one at a time, possibly by
  * different fibers, so it may have mutable fields without a lock. Both methods may block, and may
  * `await` tasks.
  */
trait Source[+A]:

  /** Returns the next element, or `Source.End` if there is none. Not called again after the end or
    * after it has failed.
    *
    * **Cancelled** at an `await`, and where it blocks: its thread is interrupted. Run code that
    * ignores interrupts by `Task.onPlatformThread(…).await`, or with `Task.cancelable`.
    */
  def next()(using Task.Direct): A | Source.End

  /** Releases the resources of the source. Called once when the stream is over, however it ends,
    * and masked. **Fails**: the error fails the stream; if the stream has failed already, this
    * error is suppressed under the stream's.
    */
  def close()(using Task.Direct): Unit = ()

object Source:
  type End = End.type

  /** The value that `next` returns if there are no more elements. */
  object End
