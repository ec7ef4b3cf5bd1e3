package weir.interop.fs2

import _root_.fs2.Stream as Fs2Stream
import weir.{RunTwice, Stream, Task}
import weir.interop.cats.given

/** A stream that crosses to or from fs2, run again and beside another run. */
class RunTwiceSuite extends RunTwice:
  elements("toWeir")(1, 2, 3)(Fs2Stream.emits[Task, Int](List(1, 2, 3)).toWeir)
  row("toFs2")(List(1, 2, 3)) {
    val crossed = Stream(1, 2, 3).toFs2
    crossed.compile.toList
  }
  elements("both ways")(1, 2, 3)(Stream(1, 2, 3).toFs2.toWeir)
