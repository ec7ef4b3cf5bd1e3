package weir.testkit

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Outcome, Task}

class InlineRuntimeSuite extends munit.FunSuite:

  test("advance rings what is due by then, each at its time, and nothing later"):
    val runtime = InlineRuntime(seed = 1)
    val rings = AtomicInteger()
    val clock = runtime.start(Task.sleep(1.hour).andThen(Task(rings.incrementAndGet())).forever)
    runtime.advance(59.minutes)
    assertEquals((rings.get, runtime.now), (0, 59.minutes))
    runtime.advance(1.minute)
    assertEquals((rings.get, runtime.now), (1, 1.hour))
    runtime.advance(150.minutes)
    assertEquals((rings.get, runtime.now), (3, 210.minutes))
    assertEquals(clock.outcome, None)

  test("an alarm that is set while the clock advances rings too, where it is due by then"):
    val runtime = InlineRuntime(seed = 1)
    val times = runtime.start(
      Task.sleep(10.minutes).andThen(Task.monotonic).andThen(Task.sleep(20.minutes)).as(runtime.now)
    )
    runtime.advance(30.minutes)
    assert(times.outcome.exists(_.isInstanceOf[Outcome.Succeeded[?]]), times.outcome)

  test("the next alarm is told without moving the clock"):
    val runtime = InlineRuntime(seed = 1)
    assertEquals(runtime.nextAlarm, None)
    runtime.start(Task.race(Task.sleep(2.hours), Task.sleep(5.minutes))): Unit
    assertEquals((runtime.nextAlarm, runtime.now), (Some(5.minutes), Duration.Zero))
    runtime.advance(2.minutes)
    assertEquals(runtime.nextAlarm, Some(3.minutes))
    runtime.advance(3.minutes)
    assertEquals(runtime.nextAlarm, None)

  test("a TestRuntime tells its next alarm, that of a Thread.sleep too"):
    val runtime = TestRuntime()
    runtime.start(Task(Thread.sleep(60_000))): Unit
    assertEquals(runtime.nextAlarm, Some(1.minute))
    runtime.advance(1.minute)
    assertEquals(runtime.nextAlarm, None)
    runtime.close()
