package weir.postgres

import java.util.concurrent.atomic.AtomicInteger
import weir.{Queue, Stream, Task}
import weir.testkit.{TestRuntime, WeirFunSuite}

class PrefetchSuite extends WeirFunSuite:
  private val block = new Array[Byte](1000)

  for (prefetch, ahead) <- List(
      Prefetch.Off -> 0,
      Prefetch.Pieces(1) -> 2,
      Prefetch.Pieces(3) -> 4,
      Prefetch.Bytes(1) -> 2,
      Prefetch.Bytes(2999) -> 3,
      Prefetch.Bytes(3000) -> 4
    )
  do
    test(s"$prefetch: $ahead pieces of 1,000 bytes are read ahead of the one that is sent"):
      val read = AtomicInteger()
      val pieces = Stream.repeatEval(Task {
        val offset = 1000L * read.getAndIncrement()
        Vector(Piece.CopyData(block, 0, 1000, Position(offset, 1, 1), offset + 1000))
      })
      val runtime = TestRuntime(carriers = 1, mayLeak = true)
      val sent = Queue.unsafe[Unit](1)
      val started = runtime.start(prefetch.of(pieces).evalMap(_ => sent.take).drain)
      runtime.awaitQuiet()
      assertEquals(read.get - 1, ahead)
      runtime.run(started.fiber.cancel)
      runtime.close()
