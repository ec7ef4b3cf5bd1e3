package weir.postgres

import java.sql.DriverManager

/** Measures the round trip of a statement, and a COPY, through each kind of socket. It is a
  * program, not a test. `sbt "postgres/Test/runMain weir.postgres.SendTiming"`
  */
object SendTiming:
  private val Statements = 5000
  private val Blocks = 400
  private val data = Array.fill(3640)("1234567\tabcdefghi\n".getBytes).flatten

  def main(args: Array[String]): Unit =
    val server = TestServer()
    try
      val database = server.newDatabase()
      server.admin(database)(server.execute(_, "CREATE UNLOGGED TABLE t (a int, b text)"))
      val plain = DriverManager.getConnection(server.jdbc(database) + "&preferQueryMode=simple")
      val ways = List(
        "pgjdbc's own TCP" -> ScriptConnection.of(plain).runSync(),
        "watched TCP" -> open(server.tcp(database)),
        "watched unix" -> open(server.unix(database))
      )
      println(f"${"round"}%-6s ${"socket"}%-18s ${"statement, µs"}%14s ${"COPY, MB/s"}%12s")
      for round <- 1 to 5; (name, connection) <- ways do
        val session = Session(connection, _ => ())
        val micros = timed(
          for _ <- 1 to Statements do session.run("SELECT 1").runSync(): Unit
        ) / 1e3 / Statements
        val nanos = timed(copy(session))
        val rate = Blocks.toDouble * data.length / nanos * 1e3
        session.run("TRUNCATE t").runSync(): Unit
        println(f"$round%-6d $name%-18s $micros%14.1f $rate%12.1f")
      ways.foreach(_._2.jdbc.close())
    finally server.close()

  private def open(url: String): ScriptConnection =
    ScriptConnection.open(url).allocated.runSync()._1

  private def copy(session: Session): Unit =
    session.beginCopy("COPY t FROM STDIN".getBytes).runSync()
    for _ <- 1 to Blocks do session.write(data, 0, data.length).runSync()
    session.endCopy.runSync(): Unit

  private def timed(body: => Unit): Double =
    val begun = System.nanoTime()
    body
    (System.nanoTime() - begun).toDouble
