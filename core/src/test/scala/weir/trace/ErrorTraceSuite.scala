package weir.trace

import java.lang.ref.WeakReference
import java.net.URLClassLoader
import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.std.Cache

/** The lines in the stack trace of an error with which a task has failed. */
class ErrorTraceSuite extends WeirSuite:
  private val hits = ConcurrentHashMap[String, Int]()

  /** Notes the line that it is called from, under `name`. */
  private def hit(name: String): Unit =
    val line = Throwable().getStackTrace.find(!_.getMethodName.endsWith("hit")).get.getLineNumber
    hits.put(name, line): Unit

  /** The lines of this file in the trace, by the names under which they were noted; others as
    * numbers. A function begins on the line before its first statement, and may throw on the line
    * after that.
    */
  private def path(error: Throwable): List[String] =
    val names = hits.asScala.map(_.swap)
    error.getStackTrace.toList
      .filter(_.getFileName == "ErrorTraceSuite.scala")
      .map(_.getLineNumber)
      .map(line => List(line, line + 1, line - 1).flatMap(names.get).headOption.getOrElse(s"$line"))

  private def fibers(error: Throwable): Int =
    error.getStackTrace.count(_.toString.startsWith("weir.fiber("))

  private def failure(task: Task[Any]): Throwable =
    task.runSync(): Unit
    fail("it has not failed")

  private def failing(task: Task[Any]): Throwable =
    try failure(task)
    catch case error: IllegalStateException => error

  private def boom(): Nothing = throw IllegalStateException("no stock")

  test("what a sequence runs in place after a wait has the line of the function that has made it"):
    for (rest, last) <- List[(() => Task[Int], String)](
        (() => boom(), "in the function"),
        (() => Task.delay(boom()), "in a thunk")
      )
    do
      val error = failing(Task.traverse(1 to 3) { n =>
        hit("made")
        if n == 1 then Task.sleep(1.milli).as(n) else Task.cede.flatMap(_ => rest())
      })
      assert(path(error).contains("made"), s"$last: ${error.getStackTrace.mkString("\n")}")

  test(
    "row 22: a failure after three async hops in a stream names the file and line of each stage"
  ):
    val error = failing(
      Stream
        .fromIterable(1 to 100)
        .evalMap { i =>
          hit("load")
          Task.sleep(1.milli).as(i)
        }
        .prefetchN(4)
        .evalMap { i =>
          hit("check")
          Task.cede.as(i)
        }
        .parEvalMap(2) { i =>
          hit("store")
          Task.sleep(1.milli).flatMap { _ =>
            hit("commit")
            if i == 10 then boom() else Task.unit
          }
        }
        .drain
    )
    val found = path(error)
    for stage <- List("load", "check", "store", "commit") do
      assert(found.contains(stage), s"$stage is not in $found")
    assert(fibers(error) >= 2, error.getStackTrace.toList.toString)

  test("a failure of the first stage names the stages and the fibers that it passes on its way"):
    val error = failing(
      Stream
        .fromIterable(1 to 100)
        .evalMap { i =>
          hit("load")
          Task.cede.flatMap(_ => if i == 10 then boom() else Task.pure(i))
        }
        .prefetchN(4)
        .parEvalMap(2) { i =>
          hit("store")
          Task.cede.as(i)
        }
        .drain
    )
    val found = path(error)
    assert(found.contains("load") && found.contains("store"), found.toString)
    assertEquals(fibers(error), 2)

  test("a failure that passes three fibers names a line of each, from the inside out"):
    val inner = Task.cede
      .flatMap { _ =>
        hit("inner")
        boom()
      }
      .start
      .flatMap { fiber =>
        hit("join inner")
        fiber.joinOrFail
      }
    val middle = inner.start.flatMap { fiber =>
      hit("join middle")
      fiber.joinOrFail
    }
    val outer = middle.guarantee(Task.unit).start.flatMap { fiber =>
      hit("join outer")
      fiber.joinOrFail
    }
    val error = failing(outer)
    val named = path(error).filter(hits.containsKey)
    assertEquals(named.distinct, List("inner", "join inner", "join middle", "join outer"))
    assertEquals(fibers(error), 4)

  test("a child of parTraverse names its own lines, and then those of its parent"):
    val task = Task.cede
      .flatMap { _ =>
        hit("parent")
        Task.parTraverse(1 to 3) { i =>
          hit("child")
          Task.sleep(1.milli).flatMap { _ =>
            hit("grandchild")
            if i == 2 then boom() else Task.unit
          }
        }
      }
    val error = failing(task)
    val named = path(error).filter(hits.containsKey).distinct
    assertEquals(named, List("grandchild", "child", "parent"))
    assertEquals(fibers(error), 2)

  test("a child that fails without suspending names the function that made it"):
    val error = failing(Task.parTraverse(1 to 3) { _ =>
      hit("child")
      Task(boom())
    })
    assert(path(error).contains("child"), path(error).toString)

  for (where, in) <- List[(String, Task[Nothing] => Task[Nothing])](
      ("", task => task),
      (" in a mask", task => Task.uncancelable(_ => task))
    )
  do
    test(s"a function that throws an error which was made elsewhere is named$where"):
      // No line of another function, or of the caller of this one, may be next to its own.
      def thrown(task: IllegalStateException => Task[Nothing]): List[String] =
        hits.clear()
        val error = IllegalStateException("made before")
        assert(failing(Task.cede.flatMap(_ => in(task(error)))) eq error)
        path(error)

      val byFlatMap = thrown(error =>
        Task(1).flatMap { _ =>
          hit("flatMap")
          throw error
        }
      )
      assert(byFlatMap.contains("flatMap"), byFlatMap.toString)
      val byCode = thrown(error =>
        Task {
          hit("code")
          throw error
        }
      )
      assert(byCode.contains("code"), byCode.toString)

  test("a mask's function that throws an error which was made elsewhere is named"):
    val error = IllegalStateException("made before")
    val task = Task.cede.flatMap { _ =>
      Task.uncancelable { _ =>
        hit("mask")
        throw error
      }
    }
    assert(failing(task) eq error)
    assert(path(error).contains("mask"), path(error).toString)

  test("what waits for the result is named, and not the library"):
    val error = failing(
      Task.cede
        .flatMap(_ => Task(boom()))
        .map { x =>
          hit("never"); x
        }
        .flatMap(x => Task.pure(x))
    )
    val inside = error.getStackTrace.map(_.getClassName)
    val library =
      List("weir.fiber.", "weir.runtime.", "weir.task.", "weir.Task", "java.lang.Virtual")
    assert(!inside.exists(name => library.exists(name.startsWith)), inside.toList.toString)
    assert(path(error).distinct.size >= 4, path(error).toString)

  test("what waits for a masked task that fails is named, and a masked task that has ended is not"):
    def counted(count: => Int) = Task.cede.flatMap { _ =>
      Task
        .uncancelable { _ =>
          Task {
            hit("masked")
            count
          }
        }
        .flatMap { n =>
          hit("waits")
          Task(if n == 0 then boom() else n)
        }
        .map(n => n)
    }
    assertEquals(counted(1).runSync(), 1)
    val masked = path(failing(counted(boom())))
    assert(masked.contains("masked") && masked.contains("waits"), masked.toString)
    def thrown(n: Int) = Task.cede.flatMap { _ =>
      Task
        .uncancelable { _ =>
          Task {
            hit("ended")
            n
          }
        }
        .flatMap { _ =>
          hit("throws")
          boom()
        }
        .map(n => n)
    }
    val after = path(failing(thrown(1)))
    assert(after.contains("throws") && !after.contains("ended"), after.toString)

  test("runSync adds the line that has called it"):
    val task = Task.cede.andThen(Task(boom())).start.flatMap(_.joinOrFail)
    // On another thread, and away from the lines of its functions.
    def run(): Any =
      hit("caller")
      task.runSync()
    val error = intercept[IllegalStateException](run(): Unit)
    assert(path(error).contains("caller"), path(error).toString)

  test("an error that is handled has its trace when its handler sees it"):
    val seen = Task.cede
      .flatMap(_ => Task.cede)
      .flatMap { _ =>
        hit("made")
        Task(boom())
      }
      .attempt
      .flatMap {
        case Left(error) => Task.pure(error)
        case Right(_) => boom()
      }
      .runSync()
    assert(path(seen).contains("made"), path(seen).toString)
    assertEquals(fibers(seen), 1)

  test("an error that is thrown again and again in one fiber gets no longer"):
    val error = IllegalStateException("again")
    def again(n: Int): Task[Unit] =
      if n == 0 then Task.unit else Task.fail(error).attempt.flatMap(_ => again(n - 1))
    again(1).start.flatMap(_.joinOrFail).runSync()
    val once = error.getStackTrace.length
    again(1000).runSync()
    val more = error.getStackTrace.length
    assert(more <= once + 4, s"$once elements, then $more")

  test("an error that a thousand fibers share gets no longer than its limit"):
    val error = IllegalStateException("shared")
    def fail = Task.cede.andThen(Task.fail(error)).attempt
    Task.parTraverse(1 to 5000)(_ => fail.start.flatMap(_.join)).runSync(): Unit
    // 512, and the lines that the last one adds.
    assert(error.getStackTrace.length < 640, error.getStackTrace.length.toString)

  // ---- error objects that are thrown again and again ----

  private object Busy extends IllegalStateException("busy")

  /** Throws `error` on a fiber of its own, in a function that notes its line as `name`. */
  private def throwing(error: Throwable, name: String): Task[Nothing] =
    Task.cede.flatMap(_ =>
      Task {
        hit(name)
        throw error
      }
    )

  test("an error object that several runs throw has the trace of the latest one"):
    val kept = IllegalStateException("kept")
    for error <- List(Busy, kept) do
      def first = Task.cede.flatMap { _ =>
        Task {
          hit("first run")
          throw error
        }
      }
      def second = Task.cede
        .flatMap { _ =>
          Task {
            hit("second run")
            throw error
          }
        }
        .start
        .flatMap(_.joinOrFail)
      for _ <- 1 to 3 do
        failing(first)
        assertEquals(fibers(error), 1)
        failing(second)
        assertEquals(fibers(error), 2)
        val named = path(error)
        assert(named.contains("second run") && !named.contains("first run"), named.toString)

  test("an error object that two places of one fiber throw has the trace of the latest one"):
    for in <- List[Task[Nothing] => Task[Nothing]](task => task, t => Task.uncancelable(_ => t)) do
      val error = IllegalStateException("kept")
      def here = Task.cede.flatMap { _ =>
        in(Task {
          hit("here")
          throw error
        })
      }
      def there = Task.cede.flatMap { _ =>
        in(Task {
          hit("there")
          throw error
        })
      }
      val both = Task.cede.flatMap(_ => here.attempt.andThen(there.attempt))
      for _ <- 1 to 3 do both.runSync(): Unit
      assertEquals(fibers(error), 1)
      assert(path(error).contains("there") && !path(error).contains("here"), path(error).toString)

  test("masked places of one fiber that throw one error object are told apart"):
    val error = IllegalStateException("kept")
    val here = Task.uncancelable { _ =>
      Task {
        hit("here")
        throw error
      }
    }
    val there = Task.uncancelable { _ =>
      Task {
        hit("there")
        throw error
      }
    }
    failing(Task.cede.flatMap(_ => here.attempt.flatMap(_ => there))): Unit
    assert(path(error).contains("there") && !path(error).contains("here"), path(error).toString)

  test("an error that is joined again and again names the two fibers of the latest join"):
    val fiber = Task.cede.flatMap(_ => boom()).start.runSync()
    val lengths = (1 to 50).map(_ => failing(fiber.joinOrFail).getStackTrace.length)
    assertEquals(lengths.distinct.size, 1, lengths.toString)
    assertEquals(fibers(failing(fiber.joinOrFail)), 2)

  test("an error taken out of an outcome, and thrown again, names the fiber that it comes from"):
    val child = throwing(Busy, "child")
    val outcomes = List[(String, Task[Outcome[Any]])](
      "join" -> child.start.flatMap(_.join),
      "poll" -> Task.defer {
        val fiber = child.start.runSync()
        fiber.join.runSync(): Unit // not in the fiber that polls
        fiber.poll.map(_.get)
      },
      "racePair" -> Task.racePair(child, Task.never).flatMap {
        case Left((outcome, other)) => other.cancel.as(outcome)
        case Right((other, outcome)) => other.cancel.as(outcome)
      }
    )
    for (name, outcome) <- outcomes do
      hits.clear()
      val task = outcome.flatMap {
        case Outcome.Failed(error) =>
          hit("parent")
          Task.fail(error)
        case _ => Task.unit
      }
      val named = path(failing(task))
      assertEquals(fibers(Busy), 2, name)
      assert(named.contains("child") && named.contains("parent"), s"$name: $named")

  test("an error that is handed on as a value names the fiber that has made it"):
    val results = Deferred.unsafe[Either[Throwable, Int]]
    val maker = Task.cede
      .flatMap { _ =>
        hit("made")
        Task(boom())
      }
      .map { n =>
        hit("never")
        n
      }
      .attempt
      .flatMap(results.complete)
    maker.start.flatMap(_.join).runSync(): Unit
    for _ <- 1 to 3 do
      val error = failing(results.get.flatMap {
        case Left(error) => Task.fail(error)
        case Right(n) => Task.pure(n)
      })
      assertEquals(fibers(error), 2)
      assert(path(error).contains("made"), path(error).toString)

  test("an error object that passes calls of runSync inside of each other gets no longer"):
    def nested(depth: Int): Task[Any] =
      if depth == 0 then throwing(Busy, "x")
      else Task.cede.flatMap(_ => Task(nested(depth - 1).runSync()))
    val lengths = (1 to 20).map { _ =>
      failing(nested(3))
      Busy.getStackTrace.length
    }
    assertEquals(fibers(Busy), 4)
    assertEquals(lengths.distinct.size, 1, lengths.toString)

  test("an error object under stream operators has the trace of the latest run"):
    val numbers = Stream.fromIterable(1 to 10)
    val streams = List[(String, Stream[Any])](
      "evalMap" -> numbers.evalMap(_ => throwing(Busy, "x")),
      "prefetchN" -> numbers.evalMap(_ => throwing(Busy, "x")).prefetchN(2),
      "parEvalMap" -> numbers.parEvalMap(2)(_ => throwing(Busy, "x")),
      "merge" -> numbers.merge(numbers.evalMap(_ => throwing(Busy, "x"))),
      "handleErrorWith" -> numbers
        .evalMap(_ => throwing(Busy, "x"))
        .handleErrorWith(_ => Stream.fail(Busy))
    )
    for (name, stream) <- streams do
      val marks = (1 to 10).map { _ =>
        failing(stream.drain)
        fibers(Busy)
      }
      assert(marks.max <= 3, s"$name: $marks")
      assert(Busy.getStackTrace.length < 60, s"$name: ${Busy.getStackTrace.length}")

  test(
    "children of parallel operators and scopes, and loads of a cache, have the latest run alone"
  ):
    val cache = Cache.unsafe[Int, Int](maxSize = 10)
    val tasks = List[(String, Task[Any])](
      "parTraverse" -> Task.parTraverse(1 to 3)(_ => throwing(Busy, "x")),
      "both" -> Task.both(throwing(Busy, "x"), Task.never),
      "firstSuccess" -> Task.firstSuccess(List(throwing(Busy, "x"), throwing(Busy, "x"))),
      "timeout" -> throwing(Busy, "x").timeout(1.hour),
      "timeoutAbandon" -> throwing(Busy, "x").timeoutAbandon(1.hour),
      "scope" -> Scope.run(scope => scope.fork(throwing(Busy, "x")).andThen(Task.never)),
      "cache" -> cache.get(1)(throwing(Busy, "x")),
      "retry" -> throwing(Busy, "x").retry(Schedule.recurs(3))
    )
    for (name, task) <- tasks do
      val marks = (1 to 10).map { _ =>
        failing(task)
        fibers(Busy)
      }
      // Those that are still on their way at the same time may be named too.
      assert(marks.max <= 4, s"$name: $marks")
      // A fiber of the run before that ends this late may have taken a line away.
      assert(marks.sorted.apply(5) >= (if name == "retry" then 1 else 2), s"$name: $marks")
      assertEquals(Busy.getSuppressed.toList, Nil)

  test("an error object that two fibers throw at the same time keeps within its limit"):
    def throws = Task.foreach(1 to 2000)(_ => throwing(Busy, "x").attempt.void)
    Task.both(throws, throws).runSync(): Unit
    assert(Busy.getStackTrace.length < 100, Busy.getStackTrace.length.toString)
    failing(throwing(Busy, "x"))
    assertEquals(fibers(Busy), 1)

  test("an error whose own methods throw is passed on as it is"):
    class Hostile extends RuntimeException("hostile"):
      override def getStackTrace: Array[StackTraceElement] = throw IllegalStateException("get")
    class Closed extends RuntimeException("closed"):
      override def setStackTrace(trace: Array[StackTraceElement]): Unit =
        throw IllegalStateException("set")
    class Silent extends RuntimeException:
      override def getMessage: String = throw IllegalStateException("message")
    class Circular extends RuntimeException("circular"):
      override def getCause: Throwable = this
    for error <- List(Hostile(), Closed(), Silent(), Circular()) do
      def thrown = Task.cede.andThen(Task.fail(error))
      val tasks = List(
        thrown,
        thrown.start.flatMap(_.joinOrFail),
        thrown.retry(Schedule.recurs(3)),
        thrown.guarantee(Task.fail(RuntimeException("late"))),
        Task.fail(RuntimeException("first")).guarantee(thrown).handleErrorWith(_ => thrown)
      )
      for task <- tasks do assertEquals(task.attempt.runSync(), Left(error))

  test("an error without a stack trace of its own is left as it is"):
    final class Light extends RuntimeException("light", null, false, false)
    val error = Light()
    val thrown = intercept[Light](Task.cede.andThen(Task.fail(error)).map(_ => 1).runSync(): Unit)
    assert(thrown eq error)
    assertEquals(error.getStackTrace.length, 0)

  test("an anonymous class and a Java lambda are named by their class"):
    val anonymous = new (Any => Task[Int]):
      def apply(x: Any): Task[Int] = Task.pure(1)
    assertEquals(Functions.in(anonymous).map(_.getFileName), List("ErrorTraceSuite.scala"))
    assert(Functions.in(anonymous).head.getLineNumber > 0)
    val java = JavaFunctions.lambda()
    assertEquals(Functions.in(java).map(_.getClassName), List("weir.trace.JavaFunctions"))

  test("functions that this library's own ones have captured are found"):
    val here = Some("ErrorTraceSuite.scala")
    for code <- List[AnyRef](
        Stream.emit(1).map(_ + 1),
        Stream.emit(1).evalTap(x => Task(x)),
        Stream.emit(1).prefetchN(1).evalMap(x => Task(x)).take(1)
      )
    do assertEquals(Functions.in(code).headOption.map(_.getFileName), here)

  test("a user's value is not taken for code, be it a function"):
    assertEquals(Functions.in(Task.pure((x: Int) => x)), Nil)
    assertEquals(Functions.in(Stream.emit((x: Int) => x)), Nil)

  test("what is known of a class is forgotten with its loader"):
    def load(): WeakReference[ClassLoader] =
      val places = System.getProperty("java.class.path").split(java.io.File.pathSeparator)
      val urls = places.map(java.io.File(_).toURI.toURL)
      val own = new URLClassLoader(urls, getClass.getClassLoader):
        override def loadClass(name: String, resolve: Boolean): Class[?] =
          if name.startsWith("weir.trace.Loaded") then
            Option(findLoadedClass(name)).getOrElse(findClass(name))
          else super.loadClass(name, resolve)
      val made = own.loadClass("weir.trace.Loaded").getDeclaredConstructor().newInstance()
      val function = made.asInstanceOf[() => Any]
      val lambda = function().asInstanceOf[AnyRef]
      assertEquals(Functions.in(lambda).map(_.getClassName), List("weir.trace.Loaded"))
      assert(lambda.getClass.getClassLoader eq own)
      WeakReference(own)
    val loader = load()
    eventually("the loader is collected") {
      System.gc()
      loader.get eq null
    }

  test("with -Dweir.traces=off the error is left as the JVM has made it"):
    val (output, code) = WeirSuite.child("weir.trace.Untraced", "-Dweir.traces=off")
    assertEquals(code, 0, output)
    assert(output.contains("fibers 0"), output)
    val (traced, _) = WeirSuite.child("weir.trace.Untraced")
    assert(traced.contains("fibers 1"), traced)

/** A class that is loaded by a loader of its own. */
class Loaded extends (() => Any):
  def apply(): Any = (x: Int) => x + 1

object Untraced:
  def main(args: Array[String]): Unit =
    val error =
      try throw Task.cede.andThen(Task[Throwable](throw IllegalStateException("x"))).runSync()
      catch case error: IllegalStateException => error
    println(s"fibers ${error.getStackTrace.count(_.toString.startsWith("weir.fiber("))}")
