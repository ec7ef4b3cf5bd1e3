package weir.bench.ce2

import weir.lab.{ChildProgram, Ping}

/** A measuring JVM for Monix and Scalaz, whose Cats Effect 2 cannot share a class path with 3. */
object Main:
  private val program = ChildProgram(
    Map(
      "ping" -> Ping
    )
  )

  def main(args: Array[String]): Unit = program.main(args)
