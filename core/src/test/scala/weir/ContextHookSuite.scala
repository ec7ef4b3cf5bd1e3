package weir

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.Await
import scala.concurrent.duration.*
import weir.std.Supervisor

/** The thread locals of a library follow fibers. The library here is one thread local. */
class ContextHookSuite extends WeirSuite:
  import ContextHookSuite.*

  private def hooked(body: WeirRuntime ?=> Unit): Unit =
    for carriers <- List(1, 2) do
      val runtime = WeirRuntime.hooked(carriers, 4, ContextHook.of(Vector(Library)))
      Library.context.remove()
      body(using runtime)
      assertEquals(Library.context.get, null)
      settles(runtime)

  private val see = Task(Library.context.get)
  private def put(value: String) = Task(Library.context.set(value))
  private val waits = List(
    Task.cede,
    Task.sleep(1.milli),
    Task(Thread.sleep(1)),
    Task.async[Unit](done => Thread.startVirtualThread(() => done(Right(()))): Unit),
    Task.cede.start.flatMap(_.join).void,
    Task.parForeachN(2)(1 to 4)(_ => Task.cede)
  )

  test("a fiber keeps its context across every wait, while others on the same threads have theirs"):
    hooked {
      val fibers = Task.parTraverse(1 to 50)(i =>
        put(s"$i").andThen(
          Task.foreach(waits)(wait =>
            wait
              .andThen(see)
              .map(seen => if seen != s"$i" then throw AssertionError(s"$seen in $i"))
          )
        )
      )
      fibers.start.flatMap(_.joinOrFail).runSync(): Unit
      fibers.runSync(): Unit
    }

  private def children(using WeirRuntime) = List[(String, Task[Any] => Task[Any])](
    "start" -> (_.start.flatMap(_.joinOrFail)),
    "parTraverse" -> (child => Task.parTraverse(1 to 200)(_ => child)),
    "parTraverse(1)" -> (child => Task.parTraverseN(1)(1 to 3)(_ => child)),
    "race" -> (child => Task.race(child, child.andThen(Task.never))),
    "timeout" -> (_.timeout(1.hour)),
    "timeoutAbandon" -> (_.timeoutAbandon(1.hour)),
    "cancelable" -> (_.cancelable(Task.unit)),
    "onPlatformThread" -> (child => Task.onPlatformThread(child.runSync())),
    "a scope" -> (child => Scope.run(_.fork(child).flatMap(_.joinOrFail))),
    "a supervisor" -> (child => Supervisor().use(_.supervise(child).flatMap(_.joinOrFail))),
    "runSync" -> (child => Task(child.runSync())),
    "toFuture" -> (child => Task(Await.result(child.toFuture(), Duration.Inf))),
    "prefetchN" -> (child => Stream.eval(child).prefetchN(2).drain),
    "parJoin" -> (child => Stream.emit(Stream.eval(child)).parJoin(2).drain),
    "parEvalMap" -> (child => Stream.fromIterable(1 to 200).parEvalMap(4)(_ => child).drain),
    "Task.direct" -> (child => Task.direct(child.start.await.joinOrFail.await))
  )

  test("a child begins with its parent's context, and what it changes stays with it"):
    hooked {
      for (way, child) <- children; wait <- Task.unit :: waits; lead <- List(true, false) do
        val wrong = AtomicReference(Set.empty[String | Null])
        def check(seen: String | Null) =
          if seen != "parent's" then wrong.updateAndGet(_ + seen): Unit
        val ready = Task { check(Library.context.get); Library.context.set("child's") }
        val suspending = wait.andThen(see).map(check).andThen(put("child's")).andThen(wait)
        val task =
          put("parent's").andThen(child(if lead then ready else suspending)).andThen(see).map(check)
        task.start.flatMap(_.joinOrFail).runSync(): Unit
        task.runSync(): Unit
        assertEquals(wrong.get, Set.empty, way)
    }

  test("runSync begins with what the caller's thread carries, and leaves that as it was"):
    hooked {
      Library.context.set("caller's")
      for wait <- Task.unit :: waits do
        assertEquals(
          see.flatMap(seen => put("task's").andThen(wait).as(seen)).runSync(),
          "caller's"
        )
        assertEquals(Library.context.get, "caller's")
      assertEquals(wait(see.start.flatMap(_.joinOrFail)).runSync(), "caller's")
      Library.context.remove()
    }

  private def wait[A](task: Task[A]): Task[A] = Task.cede.andThen(task)

  test("code on a platform thread has its fiber's context, and none that was left there"):
    hooked {
      val there = Task.onPlatformThread {
        val seen = Library.context.get; Library.context.set("there"); seen
      }
      val task = put("mine").andThen(there).flatMap(seen => see.map(after => (seen, after)))
      for _ <- 1 to 3 do assertEquals(task.runSync(), ("mine", "mine"))
      assertEquals(there.runSync(), null)
    }

  test("the code of a block keeps its context across await"):
    hooked {
      val block = Task.direct {
        Library.context.set("mine")
        waits.foreach { wait =>
          wait.await
          assertEquals(Library.context.get, "mine")
        }
      }
      Task.parTraverse(1 to 20)(_ => block).runSync(): Unit
    }

  test("a hook that throws is reported once, and fibers go on without it"):
    val err = System.err
    val printed = java.io.ByteArrayOutputStream()
    val calls = AtomicInteger()
    object Broken extends ContextHook:
      def capture(): AnyRef | Null = { calls.incrementAndGet(); throw Boom("a broken hook") }
      def install(context: AnyRef | Null): Unit = ()
    System.setErr(java.io.PrintStream(printed, true))
    val runtime = WeirRuntime.hooked(2, 4, ContextHook.of(Vector(Broken, Library)))
    try
      given WeirRuntime = runtime
      val seen = put("x").andThen(Task.parTraverse(1 to 20)(_ => wait(see))).runSync()
      assertEquals(seen.distinct, Vector("x"))
    finally System.setErr(err)
    assertEquals(calls.get, 1)
    assertEquals(printed.toString.split("has failed, and is not used any more").length, 2)
    settles(runtime)

object ContextHookSuite:
  object Library extends ContextHook:
    val context: ThreadLocal[String | Null] = ThreadLocal()
    def capture(): AnyRef | Null = context.get
    def install(value: AnyRef | Null): Unit = context.set(value.asInstanceOf[String | Null])
