package weir.bench

import fs2.Stream as FS2
import org.openjdk.jmh.annotations.Benchmark
import weir.interop.cats.given
import weir.interop.fs2.*
import weir.{Stream, Task}

/** Measures a stream of the other library, beside one of its own. It runs on `Task`, with elements
  * that exist already, in chunks of 256 in fs2's case.
  */
class StreamInterop extends StreamScenario:
  def expected: Long = Rivals.totalBelow(size)

  private def fs2s: FS2[Task, Int] = FS2.emits(items).chunkLimit(256).unchunks.covary[Task]

  @Benchmark def weir(): Long = Stream.fromIterable(items).fold(0L)(_ + _).runSync()

  @Benchmark def weirToFs2(): Long =
    Stream.fromIterable(items).toFs2.compile.fold(0L)(_ + _).runSync()

  @Benchmark def fs2(): Long = fs2s.compile.fold(0L)(_ + _).runSync()

  @Benchmark def fs2ToWeir(): Long = fs2s.toWeir.fold(0L)(_ + _).runSync()

  // element by element: only the requested element exists
  @Benchmark def weirEffectsToFs2(): Long =
    Stream.fromIterable(items).evalMap(Task.pure).toFs2.compile.fold(0L)(_ + _).runSync()

  @Benchmark def fs2EffectsToWeir(): Long =
    fs2s.evalMap(Task.pure).toWeir.fold(0L)(_ + _).runSync()
