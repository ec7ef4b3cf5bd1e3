package weir.testkit

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Resource, Task}

class ResourceFixturesSuite extends WeirFunSuite:
  private final class Opened:
    val opened, closed = AtomicInteger()
    val resource: Resource[Int] =
      Resource.make(Task(opened.incrementAndGet()))(_ => Task(closed.incrementAndGet()).void)
    def counts: (Int, Int) = (opened.get, closed.get)

  private val ofSuite, ofTest, ofFun = Opened()
  private val suiteLocal = ResourceSuiteLocalFixture("suite", ofSuite.resource)
  private val testLocal = ResourceTestLocalFixture("test", ofTest.resource)
  private val unnamed = ResourceTestLocalFixture("unnamed", ofTest.resource)
  override def munitFixtures: Seq[munit.AnyFixture[?]] = List(suiteLocal, testLocal)

  private val fun = ResourceFunFixture(
    Resource.eval(Task.sleep(1.hour)).flatMap(_ => ofFun.resource)
  )
  private val named =
    ResourceFunFixture.of(options => Resource.pure(options.name).onFinalize(Task.sleep(1.hour)))

  for n <- 1 to 3 do
    test(s"that of the suite is the same in each test, those of tests are new: $n"):
      assertEquals((suiteLocal(), testLocal()), (1, n))
      assertEquals((ofSuite.counts, ofTest.counts), ((1, 0), (n, n - 1)))

  test("a fixture that is not open says what to do"):
    val error = intercept[IllegalStateException](unnamed())
    assert(error.getMessage.contains("munitFixtures"), error.getMessage)

  fun.test("a test has its own, opened in the test's virtual time"): n =>
    Task.monotonic.assert(_ >= 1.hour).andThen(Task(assertEquals((n, ofFun.counts), (1, (1, 0)))))

  fun.test("the body may be no task, and the one before has been closed"): n =>
    assertEquals((n, ofFun.counts), (2, (2, 1)))

  named.test("a resource may depend on the test"): name =>
    assertEquals(name, "a resource may depend on the test")

  fun.test("a body that fails fails the test".fail): _ =>
    Task.fail(RuntimeException("expected"))

  test("it was closed all the same"):
    assertEquals(ofFun.counts, (3, 3))
