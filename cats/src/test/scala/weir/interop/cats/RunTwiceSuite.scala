package weir.interop.cats

import _root_.cats.effect.IO
import _root_.cats.effect.kernel.Resource as CatsResource
import _root_.cats.effect.unsafe.implicits.global
import java.util.concurrent.atomic.AtomicInteger
import weir.{Resource, RunTwice, Task}

/** Values that cross to or from Cats Effect, run again and beside another run. */
class RunTwiceSuite extends RunTwice:
  private val counter = AtomicInteger()

  fresh("toTask")(IO(new Object).toTask)
  fresh("toIO")(Task(new Object).toIO.toTask)
  fresh("Resource.toCats")(Resource.eval(Task(new Object)).toCats.use(Task.pure))
  fresh("Resource.toWeir")(CatsResource.eval(Task(new Object)).toWeir.use(Task.pure))
  row("a resource that crosses both ways is released by each run")(0) {
    val held =
      Resource.make(Task(counter.incrementAndGet()))(_ => Task(counter.decrementAndGet()).void)
    held.toCats.toWeir.use(_ => Task.unit).as(0)
  }

  test("and all are"):
    assertEquals(counter.get, 0)
