package weir.bench.child

import weir.bench.child.compare.Compare
import weir.lab.{ChildProgram, Ping}

/** A measuring JVM for Weir, Cats Effect 3, fs2, ZIO, Ox and the plain JDK. */
object Main:
  private val program = ChildProgram(
    Map(
      "compare" -> Compare,
      "ping" -> Ping
    )
  )

  def main(args: Array[String]): Unit = program.main(args)
