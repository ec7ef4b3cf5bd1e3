package weir.postgres.queue

import java.sql.{Connection, DriverManager, SQLException}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*

import weir.Task
import weir.postgres.queue.PgWorker.Event

/** Tests leases that end while the listener does not answer. */
class QueueExpirySuite extends QueueFixture:
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
