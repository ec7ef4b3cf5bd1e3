package weir.console

import weir.*
import weir.metrics.Metric
import weir.metrics.Metric.{Kind, Point}

class PrometheusTextSuite extends WeirSuite:

  // The grammar of "Text format details", version 0.0.4.
  private val name = "[a-zA-Z_:][a-zA-Z0-9_:]*"
  private val label = """[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*""""
  private val value = """(?:[+-]?[0-9]+(?:\.[0-9]+)?(?:E[+-]?[0-9]+)?|NaN|\+Inf|-Inf)"""
  private val sample = s"($name)(?:\\{($label(?:,$label)*)\\})? $value".r
  private val help = s"# HELP ($name) ((?:[^\\\\\\n]|\\\\\\\\|\\\\n)*)".r
  private val kind = s"# TYPE ($name) (counter|gauge)".r

  /** Checks `text` against the grammar, and that each figure is told once, in one block. */
  private def check(text: String): Unit =
    assert(text.isEmpty || text.endsWith("\n"), text)
    val seen = collection.mutable.Set.empty[String]
    var current = ""
    text.linesIterator.foreach {
      case help(name, _) =>
        assert(seen.add(name), s"$name twice")
        current = name
      case kind(name, _) => assertEquals(name, current)
      case line @ sample(name, labels) =>
        assertEquals(name, current)
        assert(seen.add(s"$name{$labels}"), s"twice: $line")
      case line => fail(s"not of the format: $line")
    }

  private def one(name: String, kind: Kind, unit: String, points: Point*): Vector[Metric] =
    Vector(Metric(name, kind, unit, "Some figure.", points.toVector))

  test("the figures of a runtime are of the format"):
    val queue = Queue.unsafe[Int](2).named("orders \"\\\n of\u00e9 {a=\"b\"}")
    val text = PrometheusText(WeirRuntime.default.metrics)
    check(text)
    assert(text.contains("weir_fibers{state=\"waiting\"} "), text)
    assert(text.contains("weir_fibers_begun_total "), text)
    assert(text.contains("weir_scheduler_queue_age_seconds "), text)
    assert(
      text.contains("weir_queue_capacity{name=\"orders \\\"\\\\\\n of\u00e9 {a=\\\"b\\\"}\"} 2"),
      text
    )
    java.lang.ref.Reference.reachabilityFence(queue)

  test("units and counters become suffixes, once"):
    val metrics = one("app.waited", Kind.Counter, "s", Point(Vector.empty, 1.5)) ++
      one("app.size.bytes", Kind.Gauge, "By", Point(Vector.empty, 3)) ++
      one("app.visits.total", Kind.Counter, "{visit}", Point(Vector.empty, 4))
    val text = PrometheusText(metrics)
    check(text)
    val samples = text.linesIterator.filter(!_.startsWith("#")).toList
    assertEquals(
      samples,
      List("app_waited_seconds_total 1.5", "app_size_bytes 3", "app_visits_total 4")
    )

  test("names and labels of any characters are replaced by allowed ones"):
    val odd = List("", "9 lives", "a-b.c", "__name__", "\u00fc\n\"")
    val metrics = odd.toVector.flatMap(text =>
      one(text, Kind.Gauge, "", Point(Vector(text -> text, "a" -> "b"), 1))
    )
    check(PrometheusText(metrics))

  test("points with the same labels are added up, of figures whose names become the same too"):
    val same = Point(Vector("name" -> "orders"), 2)
    val metrics = one("a.b", Kind.Gauge, "", same, same) ++ one("a_b", Kind.Gauge, "", same)
    val text = PrometheusText(metrics)
    check(text)
    assert(text.contains("a_b{name=\"orders\"} 6\n"), text)

  test("values that are not finite"):
    val values = List(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 1e-9, 1e30)
    val points = values.zipWithIndex.map((v, i) => Point(Vector("i" -> s"$i"), v))
    val text = PrometheusText(one("a", Kind.Gauge, "", points*))
    check(text)
    assert(text.contains("a{i=\"0\"} NaN\na{i=\"1\"} +Inf\na{i=\"2\"} -Inf\n"), text)
