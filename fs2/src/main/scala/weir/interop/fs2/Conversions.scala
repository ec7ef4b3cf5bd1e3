package weir.interop.fs2

import _root_.fs2.{Chunk, Stream as Fs2Stream}
import weir.{Stream, Task}

extension [A](stream: Stream[A])
  /** Converts this stream into a stream of fs2's. Elements that exist already cross as one chunk
    * (`Stream.chunks`), and nothing is made ahead. It runs on the fiber that pulls.
    *
    * **Cancelled**, or not consumed to the end: the finalizers of this stream run once, with the
    * outcome of the use. **Fails** as this stream does.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).toFs2.through(pipeOfFs2).compile.drain
    * }}}
    */
  def toFs2: Fs2Stream[Task, A] =
    Fs2Stream
      .bracketCase(stream.chunks(ToWeir.most).toPull.allocatedCase)((allocated, exit) =>
        allocated._2(ToWeir.outcome(exit))
      )
      .flatMap((next, _) =>
        Fs2Stream.unfoldChunkEval(())(_ => next.map(_.map(chunk => (Chunk.from(chunk), ()))))
      )

extension [A](stream: Fs2Stream[Task, A])
  /** Converts this stream into a stream of Weir's. A chunk crosses as one message. fs2's stream
    * runs on a separate fiber, in turns with the consumer: it begins when the first element is
    * asked for, and pulls no chunk ahead.
    *
    * **Cancelled**: cancels that fiber and waits for its finalizers. Not consumed to the end: ends
    * fs2's stream as a success. **Fails** as fs2's stream does; an error downstream is the error
    * that its finalizers see. **Order**: if fs2's stream ends while the consumer is busy, as by its
    * `timeout` or `interruptWhen`, the consumer sees that end when it asks for the next chunk.
    * {{{
    * val sizes: Stream[Int] = responseBody.chunks.toWeir.map(_.size)
    * }}}
    */
  def toWeir: Stream[A] = ToWeir(stream)
