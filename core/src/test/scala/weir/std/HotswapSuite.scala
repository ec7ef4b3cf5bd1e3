package weir.std

import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*
import weir.testkit.InlineRuntime
import weir.{Deferred, Outcome, Resource, Task, WeirSuite}

/** `Hotswap`: one resource at a time, replaced while it is used. */
class HotswapSuite extends WeirSuite:

  private final class Log:
    private val lines = ConcurrentLinkedQueue[String]()
    def note(line: String): Task[Unit] = Task(lines.add(line): Unit)
    def all: List[String] = lines.asScala.toList
    def resource(name: String): Resource[String] =
      Resource.make(note(s"+$name").as(name))(_ => note(s"-$name"))

  test("a swap acquires the next, then releases the one before; the end releases the last"):
    val log = Log()
    Hotswap(log.resource("a"))
      .use(hotswap =>
        hotswap.get.use(a => log.note(s"use ${a.get}")) >> hotswap.swap(log.resource("b")) >>
          hotswap.get.use(b => log.note(s"use ${b.get}"))
      )
      .runSync()
    assertEquals(log.all, List("+a", "use a", "+b", "-a", "use b", "-b"))

  test("a swap waits for those who use the one before, who keep it; others get the new one"):
    val log = Log()
    val go = Deferred.unsafe[Unit]
    Hotswap(log.resource("a"))
      .use { hotswap =>
        for
          user <- hotswap.get.use(a => go.get >> log.note(s"used ${a.get}")).start
          _ <- Task(eventually("a is used")(isWaiting(user)))
          swap <- hotswap.swap(log.resource("b")).start
          _ <- Task(eventually("b is there")(log.all.contains("+b")))
          seen <- hotswap.get.use(b => Task.pure(b)).iterateUntil(_.contains("b"))
          _ <- Task(assertEquals((seen, log.all.contains("-a")), (Some("b"), false)))
          _ <- go.complete(())
          _ <- user.joinOrFail >> swap.joinOrFail
        yield ()
      }
      .runSync()
    assertEquals(log.all, List("+a", "+b", "used a", "-a", "-b"))

  test("where the next cannot be acquired, or that is cancelled, the present one stays"):
    val log = Log()
    Hotswap(log.resource("a"))
      .use { hotswap =>
        for
          failed <- hotswap.swap(Resource.eval(Task.fail(Boom()))).attempt
          _ <- Task(assert(failed.isLeft))
          fiber <- hotswap.swap(Resource.eval(Task.never)).start
          _ <- Task(eventually("it waits")(isWaiting(fiber)))
          _ <- fiber.cancel
          _ <- hotswap.get.use(a => log.note(s"use ${a.get}"))
        yield ()
      }
      .runSync()
    assertEquals(log.all, List("+a", "use a", "-a"))

  test("clear releases it, and then there is none"):
    val log = Log()
    Hotswap(log.resource("a"))
      .use(hotswap =>
        hotswap.clear >> hotswap.get.use(none => log.note(s"$none")) >>
          hotswap.swap(log.resource("b"))
      )
      .runSync(): Unit
    assertEquals(log.all, List("+a", "-a", "None", "+b", "-b"))

  test("after the end it is of no use, and keeps nothing"):
    val log = Log()
    val hotswap = Hotswap(log.resource("a")).use(Task.pure).runSync()
    intercept[IllegalStateException](hotswap.get.use(_ => Task.unit).runSync()): Unit
    intercept[IllegalStateException](hotswap.swap(log.resource("b")).runSync(): Unit): Unit
    assertEquals(log.all, List("+a", "-a", "+b", "-b"))

  test("a use of nothing holds up no swap"):
    val log = Log()
    Hotswap
      .empty[String]
      .use(hotswap => hotswap.get.use(_ => hotswap.swap(log.resource("a"))))
      .runSync(): Unit
    assertEquals(log.all, List("+a", "-a"))

  test("the end waits for a swap that waits for those who use the one before"):
    val log = Log()
    val go = Deferred.unsafe[Unit]
    val ended = Hotswap(log.resource("a"))
      .use { hotswap =>
        for
          user <- hotswap.get.use(_ => go.get).start
          _ <- Task(eventually("a is used")(isWaiting(user)))
          swap <- hotswap.swap(log.resource("b")).start
          _ <- Task(
            eventually("b is there, and the swap waits")(log.all.contains("+b") && isWaiting(swap))
          )
        yield ()
      }
      .start
      .runSync()
    eventually("the end waits")(isWaiting(ended))
    assertEquals(log.all, List("+a", "+b"))
    (go.complete(()) >> ended.joinOrFail).runSync()
    assertEquals(log.all, List("+a", "+b", "-a", "-b"))

  test("many users and swaps at once: nobody uses what has been released, and all is released"):
    val open = ConcurrentLinkedQueue[String]()
    def resource(name: String) =
      Resource.make(Task { open.add(name); name })(_ => Task(open.remove(name): Unit))
    Hotswap(resource("0"))
      .use { hotswap =>
        val uses = Task.parTraverse(1 to 2000) { _ =>
          hotswap.get.use(name => Task.cede >> Task(assert(open.contains(name.get), name)))
        }
        val swaps = Task.parTraverse(1 to 200)(n => Task.cede >> hotswap.swap(resource(s"$n")))
        uses.both(swaps)
      }
      .runSync(): Unit
    assertEquals(open.asScala.toList, Nil)

  test("wherever a use is suspended, it never has what a swap has released"):
    for seed <- 1 to 200 do
      val open = ConcurrentLinkedQueue[Int]()
      def resource(n: Int) = Resource.make(Task { open.add(n); n })(_ => Task(open.remove(n): Unit))
      val program = Hotswap(resource(0)).use { hotswap =>
        val use = hotswap.get.use(n => Task(assert(open.contains(n.get), s"$n of $open")))
        val swaps = Task.foreach(1 to 50)(n => hotswap.swap(resource(n)))
        use.replicate(50).both(swaps)
      }
      InlineRuntime(seed).run(program) match
        case Some(Outcome.Succeeded(_)) => ()
        case other => fail(s"$other with the seed $seed")
