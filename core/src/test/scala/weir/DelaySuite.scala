package weir

import java.lang.ref.{Reference, WeakReference}

/** `Task.delay` makes a class of each of its calls. The code in that class means the same as it
  * would in a function.
  */
class DelaySuite extends WeirSuite:
  import DelaySuite.*

  test("the code runs each time, and not before"):
    var ran = 0
    val task = Task.delay { ran += 1; ran }
    assertEquals(ran, 0)
    assertEquals(List(task.runSync(), task.runSync()), List(1, 2))

  test("it stands for a function"):
    val made: Int => Task[Int] = Task.delay(_)
    assertEquals(List(1, 2).map(Task(_)).map(_.runSync()), List(1, 2))
    assertEquals(made(3).runSync(), 3)

  test(
    "its code reaches what surrounds it: private members, those above, type parameters, local ones"
  ):
    assertEquals(Below("a").all[String]("b").runSync(), List("a", "above a", "b", "local"))

  test("names in it are those of where it stands, also where a task has the same"):
    assertEquals(
      Named().all.runSync(),
      List("my run", "my tag", "my map", "my thunk", "local start")
    )

  test("twenty of them in one another"):
    // format: off
    val deep = Task(Task(Task(Task(Task(Task(Task(Task(Task(Task(
      Task(Task(Task(Task(Task(Task(Task(Task(Task(Task(1)))))))))))))))))))) // format: on
    var value: Any = deep
    var depth = 0
    while value.isInstanceOf[Task[?]] do
      value = value.asInstanceOf[Task[Any]].runSync()
      depth += 1
    assertEquals((depth, value), (20, 1: Any))

  test("it may stand in what is given to a constructor"):
    assertEquals(Given(2).task.runSync(), 3)
    assertEquals(new Given().task.runSync(), 8)

  test("in a call by name it takes the name along"):
    var asked = 0
    def later[A](value: => A): Task[A] = Task.delay(value)
    val task = later { asked += 1; asked }
    assertEquals((asked, task.runSync(), task.runSync()), (0, 1, 2))

  test("in another that is inlined, and in itself"):
    assertEquals(twice(21).runSync(), 42)
    assertEquals(Task(Task(Task(1).runSync() + 1).runSync() + 1).runSync(), 3)

  test("values of every kind come back as they are"):
    assertEquals(Task(()).runSync(), ())
    assertEquals(Task(1L).runSync(), 1L)
    assertEquals(Task('c').runSync(), 'c')
    assertEquals(Task(Meters(2.5)).runSync(), Meters(2.5))
    assertEquals(Task(null).runSync(), null)
    assertEquals(Task[Any](1).runSync(), 1)

  test("what it throws is the failure"):
    intercept[NoSuchElementException](Task.delay(List.empty[Int].head).runSync(): Unit): Unit
    intercept[NotImplementedError](Task[Int](???).runSync(): Unit): Unit

  test("a pattern, a local function and a lazy value in it"):
    val task = Task:
      val (a, b) = (1, "x")
      lazy val c = a + 1
      def d(n: Int): Int = if n == 0 then c else d(n - 1)
      s"$a$b${d(3)}"
    assertEquals(task.runSync(), "1x2")

  test("it keeps nothing alive but what its code names"):
    val reference = WeakReference(Array.ofDim[Byte](1 << 20))
    val length = reference.get.length
    val task = Task(length)
    assertCollected(reference)
    assertEquals(task.runSync(), 1 << 20)

  // The objects that the code makes must not keep the whole task alive.
  for (what, make) <- makers do
    test(s"$what that its code makes keeps nothing alive but what it names"):
      val (made, array) = run(make)
      assertCollected(array)
      Reference.reachabilityFence(made)

  test("where it calls a local method, it does not keep the object that this stands in"):
    val (adder, holder) = adderAndHolder()
    assertCollected(holder)
    assertEquals(adder(1).runSync(), 2)

  test("its code may name what is protected in Java"):
    val copy = Copied(3)
    assertEquals(copy.copies.runSync().n, 3)
    assertEquals(Loader().registered.runSync(), true)

  private def assertCollected(reference: WeakReference[?]): Unit =
    val deadline = System.nanoTime() + 10_000_000_000L
    while reference.get ne null do
      assert(System.nanoTime() < deadline, "it is still there")
      System.gc()

object DelaySuite:
  private type Maker = (Array[Byte], Int) => Task[Any]

  /** Tasks that use the array, and return something that uses the number only. */
  private val makers = List[(String, Maker)](
    "a function" -> ((array, n) => Task { val _ = array.length; (more: Int) => more + n }),
    "a task" -> ((array, n) => Task { val _ = array.length; Task(n) }),
    "an object" -> ((array, n) =>
      Task { val _ = array.length; new Iterator[Int] { def hasNext = true; def next() = n } }
    ),
    "an argument by name" -> ((array, n) => Task { val _ = array.length; LazyList.continually(n) }),
    "a function in a local method" -> ((array, n) =>
      Task { def add = (more: Int) => more + n; val _ = array.length; add }
    )
  )

  private def run(make: Maker): (Any, WeakReference[Array[Byte]]) =
    val array = new Array[Byte](1 << 20)
    (make(array, 1).runSync(), WeakReference(array))

  private def adderAndHolder(): (Int => Task[Int], WeakReference[Holder]) =
    val holder = Holder()
    (holder.adder, WeakReference(holder))

  class Copied(val n: Int) extends Cloneable:
    def copies: Task[Copied] = Task(clone().asInstanceOf[Copied])

  opaque type Meters = Double
  object Meters:
    def apply(value: Double): Meters = value

  inline def twice(inline n: Int): Task[Int] = Task.delay(n).map(_ => n * 2)

  class Above(name: String):
    protected def above: String = s"above $name"

  class Below(private val name: String) extends Above(name):
    override protected def above: String = "below"
    def all[A](also: A): Task[List[Any]] =
      val local = "local"
      Task(List(name, super.above, also, local))

  class Named:
    def run(): String = "my run"
    val tag = "my tag"
    def map(n: Int): String = "my map"
    private val thunk = "my thunk"
    def all: Task[List[String]] =
      def start = "local start"
      Task(List(run(), tag, map(1), thunk, start))

  class Base(val task: Task[Int])

  class Given(n: Int) extends Base(Task(n + 1)):
    def this() = this(Task(7).runSync())

// Not in an object, into which the compiler would move their functions, and nest their local
// methods.
private class Holder:
  def adder: Int => Task[Int] =
    def more(n: Int): Int = n + 1
    n => Task(more(n))

private class Loader extends ClassLoader:
  def registered: Task[Boolean] = Task(ClassLoader.registerAsParallelCapable())
