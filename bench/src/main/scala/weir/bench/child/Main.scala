package weir.bench.child

import weir.bench.child.burst.Burst
import weir.bench.child.clients.Clients
import weir.lab.{ChildProgram, Ping}

/** A measuring JVM for Weir, Cats Effect 3, fs2, ZIO, Ox and the plain JDK. */
object Main:
  private val program = ChildProgram(
    Map(
      "burst" -> Burst,
      "clients" -> Clients,
      "ping" -> Ping
    )
  )

  def main(args: Array[String]): Unit = program.main(args)
