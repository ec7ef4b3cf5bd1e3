package weir.postgres.queue

import java.lang.reflect.Proxy
import java.sql.{Connection, DriverManager, SQLException}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*

import weir.Task
import weir.postgres.queue.PgWorker.Event

/** Tests leases that end while the server or the listener does not answer. */
class QueueExpirySuite extends QueueFixture:
  test("a job that was taken too late does not run beside its next holder"):
    val (direct, database) = newQueue()
    direct.offer(PgOffer("a")).runSync(): Unit
    val commits = AtomicInteger()
    val slow = PgQueue(
      () =>
        val real = DriverManager.getConnection(server.jdbc(database))
        val proxy = Proxy.newProxyInstance(
          getClass.getClassLoader,
          Array(classOf[Connection]),
          (_, method, args) =>
            // longer than the lease
            if method.getName == "commit" && commits.getAndIncrement() == 0 then Thread.sleep(3200)
            if args == null then method.invoke(real) else method.invoke(real, args*)
        )
        proxy.asInstanceOf[Connection]
      ,
      "work",
      PgCodec.text
    )
    val running = AtomicInteger()
    val fiber = slow
      .stream(1, 3.seconds, PgWorker(listens = false, poll = 1.hour))(_ =>
        (Task(running.incrementAndGet(): Unit) >> Task.never)
          .onCancel(Task(running.decrementAndGet(): Unit))
      )
      .drain
      .start
      .runSync()
    eventually("another can take it")(direct.take(1, lease).runSync().nonEmpty)
    Thread.sleep(200) // a quarter of the time for which it would run
    assertEquals(running.get, 0)
    fiber.cancel.runSync()

  for (what, act) <- List[(String, CountDownLatch => Unit)](
      "throws" -> (_ => throw NoClassDefFoundError("under test")),
      "blocks" -> (_.await())
    )
  do
    test(s"leases end although the listener $what"):
      val (direct, database) = newQueue()
      val opened = ConcurrentLinkedQueue[Connection]()
      val isOver = CountDownLatch(1)
      val isAway = AtomicBoolean()
      val queue = PgQueue(
        () =>
          if isAway.get then throw SQLException("refused", "08001")
          val connection = DriverManager.getConnection(server.jdbc(database))
          opened.add(connection): Unit
          connection
        ,
        "work",
        PgCodec.text
      )
      val worker = PgWorker(
        listens = false,
        poll = 20.millis,
        listener = {
          case Event.LeaseLost(_) => act(isOver)
          case _ => ()
        }
      )
      val begun, cancelled = AtomicInteger()
      val running = queue
        .stream(2, 3.seconds, worker)(_ =>
          (Task(begun.incrementAndGet(): Unit) >> Task.never)
            .onCancel(Task(cancelled.incrementAndGet(): Unit))
        )
        .drain
        .start
        .runSync()
      for count <- 1 to 2 do
        direct.offer(PgOffer("")).runSync(): Unit
        eventually("it begins")(begun.get == count)
        Thread.sleep(350) // so the leases end at different times, and before the first renewal
      isAway.set(true)
      opened.forEach(_.close())
      eventually("both are cancelled")(cancelled.get == 2)
      isOver.countDown()
      running.cancel.runSync()
