package weir.testkit

import munit.{AnyFixture, Location, TestOptions}
import weir.{Resource, Task}

/** Resources as fixtures of a munit suite.
  *
  * The resource of one test (`ResourceFunFixture`) is a part of the test: it is opened and closed
  * on the test's runtime, in its virtual time. Resources that are named in `munitFixtures` are
  * opened and closed outside of the tests, on `WeirRuntime.default`, in real time.
  */
trait ResourceFixtures:
  self: munit.FunSuite =>

  /** Defines tests, each of which opens and closes its own resource. */
  final class ResourceFunFixture[A] private (resource: TestOptions => Resource[A]):

    /** Defines a test of `body`, which may return a task. */
    def test(options: TestOptions)(body: A => Any)(using location: Location): Unit =
      self.test(options)(
        resource(options).use(value =>
          Task.delay(body(value)).flatMap {
            case task: Task[?] => task
            case other => Task.pure(other)
          }
        )
      )

  object ResourceFunFixture:

    /** Returns a fixture for tests that open `resource` before their body, and close it after that.
      * {{{
      * val cart = ResourceFunFixture(Resource.make(Task(Cart()))(cart => Task(cart.close())))
      *
      * cart.test("a cart is empty at first"): cart =>
      *   cart.size.assertEquals(0)
      * }}}
      */
    def apply[A](resource: Resource[A]): ResourceFunFixture[A] = of(_ => resource)

    /** As `apply`, for a resource that depends on the test. */
    def of[A](resource: TestOptions => Resource[A]): ResourceFunFixture[A] =
      new ResourceFunFixture(resource)

  object ResourceSuiteLocalFixture:

    /** Returns a fixture that opens `resource` before the first test of the suite and closes it
      * after the last one. It must be named in `munitFixtures`.
      * {{{
      * val database = ResourceSuiteLocalFixture("database", Database.start)
      * override def munitFixtures = List(database)
      *
      * test("a row is found again"):
      *   database().insert(row).andThen(database().find(row.id)).assertEquals(Some(row))
      * }}}
      */
    def apply[A](name: String, resource: Resource[A]): AnyFixture[A] =
      new ResourceFixture(name, resource):
        override def beforeAll(): Unit = open()
        override def afterAll(): Unit = close()

  object ResourceTestLocalFixture:

    /** Returns a fixture that opens `resource` before each test and closes it after that. It must
      * be named in `munitFixtures`.
      */
    def apply[A](name: String, resource: Resource[A]): AnyFixture[A] =
      new ResourceFixture(name, resource):
        override def beforeEach(context: BeforeEach): Unit = open()
        override def afterEach(context: AfterEach): Unit = close()

/** A fixture that holds an open resource. */
private[testkit] abstract class ResourceFixture[A](name: String, resource: Resource[A])
    extends AnyFixture[A](name):
  @volatile private var opened: Option[(A, Task[Unit])] = None

  def apply(): A = opened match
    case Some((value, _)) => value
    case None =>
      throw IllegalStateException(
        s"The fixture '$name' is not open. It is open in tests only, and must be named in " +
          "munitFixtures: override def munitFixtures = List(...)."
      )

  protected def open(): Unit = opened = Some(resource.allocated.runSync())

  protected def close(): Unit =
    val release = opened
    opened = None
    release.foreach((_, release) => release.runSync())
