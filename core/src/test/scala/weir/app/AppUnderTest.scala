package weir.app

import java.io.{BufferedOutputStream, FileDescriptor, FileOutputStream, PrintStream}
import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.*
import weir.fiber.FiberCore

/** The programs that `WeirAppSuite` runs, by name. */
object AppUnderTest extends WeirApp:

  override protected def shutdownDeadline: FiniteDuration =
    sys.props("deadlineMillis").toLong.millis

  private def say(line: String): Task[Unit] = Task(println(line))

  private val block: Task[Unit] = Task(CountDownLatch(1).await())

  /** Prints that it runs, and goes on until it is cancelled. */
  private def endless(body: Task[Unit], finalizer: Task[Unit]): Task[Unit] =
    say("running").andThen(body).guarantee(finalizer)

  private def thread(body: => Unit): Thread = Thread.ofPlatform().unstarted(() => body)

  private def hook(body: => Unit): Task[Unit] =
    Task(java.lang.Runtime.getRuntime.addShutdownHook(thread(body)))

  def run(args: List[String]): Task[ExitCode | Unit] = args.head match
    case "value" => say("done")
    case "code" => Task.pure(ExitCode(3))
    case "failure" => Task.cede.andThen(Task.fail(IllegalStateException("out of luck")))
    case "throws" => throw IllegalStateException("out of luck")
    case "cancels itself" => Task.canceled
    case "suspended" => endless(Task.never, say("finalizer"))
    case "blocked" => endless(block, say("finalizer"))
    case "child blocked" => endless(Task.both(block, Task.never).void, say("finalizer"))
    case "masked" =>
      Task.uncancelable(_ => endless(Task.sleep(50.millis), Task.unit).as(ExitCode(7)))
    case "slow finalizer" =>
      endless(Task.never, say("finalizing").andThen(Task.sleep(1500.millis)).andThen(say("done")))
    case "endless finalizer" => endless(Task.never, say("finalizing").andThen(Task.never))
    case "ignores interrupts" => Task.uninterruptible(stay())
    case "failing finalizer" => endless(Task.never, Task.fail(IllegalStateException("stuck lid")))
    case "exit in main" => say("running").andThen(Task(sys.exit(5)))
    case "exit in a fiber" =>
      endless(Task(sys.exit(5)).start.andThen(Task.never), say("finalizer"))
    case "exit in a child" =>
      Task.both(Task(sys.exit(5)), endless(Task.never, say("finalizer"))).void
    case "exit in a thread" =>
      endless(Task(thread(sys.exit(5)).start()).andThen(Task.never), say("finalizer"))
    case "exit with an endless finalizer" =>
      endless(Task(thread(sys.exit(5)).start()).andThen(Task.never), Task.never)
    case "exit in a hook" => hook(sys.exit(9)).andThen(say("done"))
    case "endless hook" => hook(CountDownLatch(1).await()).andThen(say("done"))
    case "other fibers" =>
      val other = Task.never.guarantee(say("finalizer"))
      for
        _ <- other.start
        _ <- other.startDaemon
        _ <- block.start
        _ <- Task(thread(stay()).start())
      yield ExitCode(4)
    case "unjoined failure" =>
      Task.cede.andThen(Task(throw IllegalStateException("unseen"))).start.flatMap {
        case core: FiberCore =>
          Task {
            while core.outcome eq null do Thread.sleep(1)
            println("done")
          }
      }
    case "buffered" =>
      Task {
        System.setOut(
          PrintStream(BufferedOutputStream(FileOutputStream(FileDescriptor.out), 1 << 16), false)
        )
        System.out.println("buffered")
      }
    case "full stderr" => // whose lock is held by a thread that never gives it back
      Task(Thread.startVirtualThread(() => System.err.synchronized(stay())): Unit)
        .andThen(endless(Task.never, Task.never))

  private def stay(): Unit =
    println("staying")
    while true do
      try CountDownLatch(1).await()
      catch case _: InterruptedException => ()
