package weir.micrometer

import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import weir.{Queue, Task, WeirRuntime, WeirSuite}

class WeirMetersSuite extends WeirSuite:
  private val registry = SimpleMeterRegistry()
  WeirMeters().bindTo(registry)

  private def eventually(condition: => Boolean): Unit =
    eventually(registry.getMetersAsString)(condition)

  private def waiting = registry.get("weir.fibers").tag("state", "waiting").gauge.value

  test("each figure of the runtime is a meter"):
    for metric <- WeirRuntime.default.metrics do
      assert(registry.find(metric.name).meters.size >= 1, metric.name)
    assertEquals(registry.get("weir.fibers").gauges.size, 4)

  test("gauges and counters have the values of now"):
    val begun = registry.get("weir.fibers.begun").functionCounter.count
    val before = waiting
    val fibers = Task.traverse(1 to 30)(_ => Task.never.start).runSync()
    eventually(waiting >= before + 30)
    eventually(registry.get("weir.fibers.begun").functionCounter.count >= begun + 30)
    Task.foreach(fibers)(_.cancel).runSync()
    eventually(waiting < before + 30)

  test("the figures of a queue that is named later appear"):
    val queue = Queue.unsafe[Int](3).named("orders")
    queue.offer(1).runSync()
    def size = registry.find("weir.queue.size").tag("name", "orders").gauge
    eventually(waiting >= 0 && size != null && size.value == 1)
    queue.take.runSync(): Unit
    eventually(size.value == 0)
