package weir
package task

import java.io.IOException
import java.net.{InetAddress, ServerSocket, Socket}
import java.sql.SQLException
import java.util.concurrent.{CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*

/** Three ways to stop code that blocks, on four kinds of such code. */
class BlockedTimeoutSuite extends WeirSuite:

  /** Something that blocks for ever unless it is stopped. */
  private trait Blocked:
    /** The code, which ends when its thread is interrupted, if that is possible at all. */
    def block(): Unit

    /** Makes `block` return in its own way, from another thread. */
    def stop(): Unit

  private val kinds = List[(String, () => Blocked)](
    "Thread.sleep" -> { () =>
      new Blocked:
        private val stopped = AtomicBoolean()
        def block(): Unit = while !stopped.get do Thread.sleep(5)
        def stop(): Unit = stopped.set(true)
    },
    "a socket that is read" -> { () =>
      new Blocked:
        private val socket = Socket(InetAddress.getLoopbackAddress, silent.getLocalPort)
        def block(): Unit = socket.getInputStream.read(): Unit
        def stop(): Unit = socket.close()
    },
    "a statement of a JDBC driver" -> { () =>
      new Blocked:
        private val connection = Connection(silent.getLocalPort)
        def block(): Unit = connection.execute("select pg_sleep(3600)")
        def stop(): Unit = connection.cancelStatement()
    },
    "code that computes" -> { () =>
      new Blocked:
        private val stopped = AtomicBoolean()
        def block(): Unit =
          while !stopped.get do if Thread.interrupted() then throw InterruptedException()
        def stop(): Unit = stopped.set(true)
    }
  )

  /** Accepts and never answers. */
  private lazy val silent = ServerSocket(0, 500, InetAddress.getLoopbackAddress)
  override def afterAll(): Unit = silent.close()

  /** Behaves as drivers do: one statement at a time, and errors of the network in an exception of
    * its own.
    */
  private final class Connection(port: Int):
    private val socket = Socket(InetAddress.getLoopbackAddress, port)
    def execute(sql: String): Unit = synchronized {
      try
        socket.getOutputStream.write(sql.getBytes)
        socket.getInputStream.read(): Unit
      catch case e: IOException => throw SQLException("An I/O error occurred.", e)
    }
    def cancelStatement(): Unit =
      try socket.shutdownInput()
      catch case _: IOException => () // it is closed

  private val limit20 = 20.millis

  /** `run` fails with a timeout, never before the limit, and at best in less than 50 ms over it. */
  private def inTime(make: () => Blocked)(run: Blocked => Unit): Unit =
    def round(): FiniteDuration =
      val blocked = make()
      val (_, took) = timed(run(blocked))
      blocked.stop()
      assert(took >= limit20, s"after $took")
      took
    // once is enough: the machine may have other work
    assert((1 to 50).exists(_ => round() < limit20 + 50.millis))

  for (name, make) <- kinds do
    test(s"timeout interrupts $name, and its finalizers have run"):
      inTime(make) { blocked =>
        val begun, released = AtomicBoolean()
        val block = Task { begun.set(true); blocked.block() }
        val task = block.guarantee(Task(released.set(true))).timeout(limit20)
        intercept[TimeoutException](task.start.flatMap(_.joinOrFail).runSync()): Unit
        assert(released.get || !begun.get)
      }

    test(s"timeout of a task that is cancelable by a hook stops $name without an interrupt"):
      inTime(make) { blocked =>
        val begun, interrupted, released = AtomicBoolean()
        val task = Task
          .uninterruptible {
            begun.set(true)
            try blocked.block()
            finally interrupted.set(Thread.currentThread().isInterrupted)
          }
          .guarantee(Task(released.set(true)))
          .cancelable(Task(blocked.stop()))
          .timeout(limit20)
        intercept[TimeoutException](task.start.flatMap(_.joinOrFail).runSync()): Unit
        assertEquals((interrupted.get, released.get), (false, begun.get))
      }

    test(s"timeoutAbandon abandons $name where it ignores the interrupt, and counts it"):
      for onCaller <- List(true, false) do
        inTime(make) { blocked =>
          val released = CountDownLatch(1)
          val task = Task
            .uninterruptible(blocked.block())
            .guarantee(Task(released.countDown()))
            .timeoutAbandon(limit20)
          val run = if onCaller then task else task.start.flatMap(_.joinOrFail)
          intercept[TimeoutException](run.runSync()): Unit
          assertEquals((WeirRuntime.default.abandonedTasks, released.getCount), (1, 1L))
          blocked.stop()
          await(released)
          eventually("no abandoned task is left")(WeirRuntime.default.abandonedTasks == 0)
        }

    test(s"a cancel reaches $name on a platform thread"):
      val blocked = make()
      val begun = CountDownLatch(1)
      val task = Task.onPlatformThread { begun.countDown(); blocked.block() }
      // No interrupt ends a read of a socket on a platform thread.
      val fiber = task.cancelable(Task(blocked.stop())).start.runSync()
      await(begun)
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
