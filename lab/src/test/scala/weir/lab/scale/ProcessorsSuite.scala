package weir.lab.scale

import munit.FunSuite

class ProcessorsSuite extends FunSuite:
  test("a list of processors has ranges and single numbers"):
    assertEquals(Processors.list("0-3,8, 10-11\n"), Some(Vector(0, 1, 2, 3, 8, 10, 11)))
    assertEquals(Processors.list("5"), Some(Vector(5)))
    for text <- List("", "x", "3-1", "1-2-3", "1,,2") do assertEquals(Processors.list(text), None)

  test("the allowed processors are found in a process's status"):
    val status = "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t4-5,7\nMems_allowed:\t1\n"
    assertEquals(Processors.allowedOf(status), Some(Vector(4, 5, 7)))
    assertEquals(Processors.allowedOf("Name:\tjava\n"), None)

  test("each core gives its first thread before any gives its second"):
    def pairs(processor: Int) = Vector(processor / 2 * 2, processor / 2 * 2 + 1)
    assertEquals(Processors.coresFirst(Vector(0, 1, 2, 3), pairs), Vector(0, 2, 1, 3))
    def halves(processor: Int) = Vector(processor % 2, processor % 2 + 2)
    assertEquals(Processors.coresFirst(Vector(0, 1, 2, 3), halves), Vector(0, 1, 2, 3))

  test("a second thread whose core's first one is not allowed counts as a first"):
    def pairs(processor: Int) = Vector(processor / 2 * 2, processor / 2 * 2 + 1)
    assertEquals(Processors.coresFirst(Vector(1, 2, 3), pairs), Vector(1, 2, 3))

  test("a command is put on the first processors, or on all if they cannot be chosen"):
    val order = Vector(0, 2, 1, 3)
    assertEquals(
      Processors(order, Some("taskset")).prefix(2),
      Seq("taskset", "-c", "0,2")
    )
    val free = Processors(order, None)
    assertEquals(free.prefix(2), Nil)
    assert(free.said.contains("not pinned"), free.said)

  test("this machine's processors are as many as Java sees, or more"):
    val here = Processors.here()
    assert(here.order.sizeIs >= Runtime.getRuntime.availableProcessors, here)
    assertEquals(here.order.distinct, here.order)
