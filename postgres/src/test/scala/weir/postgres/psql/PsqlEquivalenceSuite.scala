package weir.postgres.psql

import scala.concurrent.duration.*

/** Weir does with any script what psql does with it. */
class PsqlEquivalenceSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 2.hours

  private val psql = Programs.find("psql")
  private lazy val server = TestServer.start()
  private lazy val comparison =
    List("by_psql", "by_weir").foreach(server.create)
    val model = PsqlRunner(server, psql.get)
    Comparison(server, model, model)

  private val seed = sys.props.get("weir.sql.seed").fold(System.nanoTime())(_.toLong)
  private val scripts = sys.props.get("weir.sql.scripts").fold(40)(_.toInt)

  override def beforeAll(): Unit = assume(psql.isDefined, "There is no psql on this machine.")
  override def afterAll(): Unit = if psql.isDefined then server.close()

  for mode <- Mode.values do
    test(s"random scripts: the same statements, errors, rows and outcome as with psql, $mode"):
      for i <- 0 until scripts do check(seed + i, mode)

  test("stats"):
    val all = scala.collection.mutable.Map.empty[String, Int].withDefaultValue(0)
    for i <- 0 until 100 do
      val script = RandomScript(seed + i)
      val e = comparison.effect(PsqlRunner(server, psql.get), "by_psql", script.bytes, Mode.Continue)
      e.events.foreach {
        case ServerLog.Event.Sent(s) => all("sent") += 1; all("copy") += Script.copyNumber(s).size
        case f: ServerLog.Event.Failed => all(s"${f.state} ${f.message.take(50)} ${f.context.take(8)}") += 1
      }
      all("tables") += e.contents.count(_.contains("column"))/2
      all("rows") += e.contents.count(_.contains(": ("))
    all.toSeq.sortBy(-_._2).take(60).foreach(println)

  private def check(seed: Long, mode: Mode): Unit =
    val script = if mode == Mode.Single then withoutTransactionEnds(RandomScript(seed)) else RandomScript(seed)
    comparison.difference(script, mode).foreach { _ =>
      val small = Shrinking(script)(comparison.difference(_, mode).isDefined)
      val found = comparison.difference(small, mode).getOrElse("nothing any more")
      fail(s"-Dweir.sql.seed=$seed -Dweir.sql.scripts=1, $mode: $found\n\nThe script:\n${small.show}")
    }

  private def withoutTransactionEnds(script: Script): Script =
    script.copy(parts = script.parts.filterNot(_.endsTransaction))
