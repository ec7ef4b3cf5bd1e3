package weir.postgres.queue

import java.lang.reflect.Proxy
import java.sql.{Connection, DriverManager, SQLException}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.{Deferred, Task}
import weir.postgres.queue.PgWorker.Event
import weir.postgres.queue.tables.{QueueAccess, QueueTables}

/** Tests how calls and streams open, keep and close their connections. */
class QueueConnectionSuite extends QueueFixture:
  private def connecting(connect: => Connection): PgQueue[String] =
    PgQueue(() => connect, "work", PgCodec.text)

  /** The connections to a database, which a test can take away. */
  private final class Network(database: String):
    val opened = ConcurrentLinkedQueue[Connection]()
    val isAway = AtomicBoolean()

    def connect(whileAway: => Unit): Connection =
      if isAway.get then whileAway
      val connection = DriverManager.getConnection(server.jdbc(database))
      opened.add(connection): Unit
      connection

    def cut(): Unit =
      isAway.set(true)
      opened.forEach(_.close())

  test("a connection that comes after the cancel is closed"):
    val (_, database) = newQueue()
    val opened = ConcurrentLinkedQueue[Connection]()
    val queue = connecting {
      val connection = DriverManager.getConnection(server.jdbc(database))
      opened.add(connection): Unit
      try Thread.sleep(100) // under test: a connect that does not heed interrupts
      catch case _: InterruptedException => ()
      connection
    }
    val calls = List[Task[Any]](
      queue.stream(1, lease, PgWorker(listens = false))(_ => Task.unit).drain,
      queue.stream(1, lease)(_ => Task.unit).drain,
      queue.take(1, lease),
      queue.create
    )
    for call <- calls do
      for _ <- 1 to 3 do
        val before = opened.size
        val running = call.start.runSync()
        eventually("it opens a connection")(opened.size > before)
        running.cancel.runSync()
    assert(opened.asScala.forall(_.isClosed), opened)

  test("a cancel does not wait for a connection"):
    val interrupted = AtomicInteger()
    val begun = ConcurrentLinkedQueue[Int]()
    val queue = connecting {
      begun.add(1): Unit
      try CountDownLatch(1).await(3, TimeUnit.SECONDS): Unit
      catch
        case error: InterruptedException =>
          interrupted.incrementAndGet(): Unit
          throw error
      throw SQLException("late", "08001")
    }
    val calls = List[Task[Any]](
      queue.offer(PgOffer("a")),
      queue.create,
      queue.stream(1, lease)(_ => Task.unit).drain
    )
    for (call, index) <- calls.zipWithIndex do
      val running = call.start.runSync()
      eventually("it connects")(begun.size > index)
      running.cancel.runSync()
      assertEquals(interrupted.get, index + 1)

  test("a call fails if its connection does not come within the limit"):
    val access = QueueAccess(
      () =>
        CountDownLatch(1).await()
        fail("it was released")
      ,
      QueueTables("weir_queue", "work", PgCodec.Column.Text),
      PgCodec.Column.Text,
      connectLimit = 50.millis
    )
    val late = intercept[SQLException](access.transaction(_ => ()).runSync())
    assertEquals(late.getSQLState, "08001")
    assertEquals(late.getMessage, "no answer to a new connection within 50 ms")

  test("a pooled connection comes back with its network timeout"):
    val (_, database) = newQueue()
    val connection = DriverManager.getConnection(server.jdbc(database) + "&socketTimeout=60")
    val pooled = Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array(classOf[Connection]),
        (_, method, args) =>
          if method.getName == "close" then null
          else if args == null then method.invoke(connection)
          else method.invoke(connection, args*)
      )
      .asInstanceOf[Connection]
    val queue = connecting(pooled)
    queue.offer(PgOffer("a")).runSync(): Unit
    assertEquals(connection.getNetworkTimeout, 60_000)
    val worker = PgWorker(listens = false)
    queue.stream(1, lease, worker)(_ => Task.unit).head.runSync(): Unit
    assertEquals(connection.getNetworkTimeout, 60_000)
    connection.close()

  test("a job is cancelled at the end of its lease although a new connection does not come"):
    val (direct, database) = newQueue()
    val network = Network(database)
    val triesEnded, triesAtCancel = AtomicInteger()
    val queue = connecting(network.connect {
      try CountDownLatch(1).await()
      finally triesEnded.incrementAndGet(): Unit
    })
    direct.offer(PgOffer("a")).runSync(): Unit
    val begun, cancelled = CountDownLatch(1)
    val running = queue
      .stream(1, 900.millis, PgWorker(listens = false))(_ =>
        Task(begun.countDown()) >> Task.never.onCancel(
          Task(triesAtCancel.set(triesEnded.get)) >> Task(cancelled.countDown())
        )
      )
      .drain
      .start
      .runSync()
    await(begun)
    network.cut()
    await(cancelled)
    running.cancel.runSync()
    assertEquals(triesAtCancel.get, 0) // a try to connect takes three seconds

  test("stopped while the server is away, a stream that holds nothing ends"):
    val (direct, database) = newQueue()
    val network = Network(database)
    val queue = connecting(network.connect(throw SQLException("refused", "08001")))
    val stop = Deferred.unsafe[Unit]
    val isLost = CountDownLatch(1)
    val worker = PgWorker(
      stop = stop.get,
      poll = 20.millis,
      listens = false,
      listener = {
        case Event.Disconnected(_) => isLost.countDown()
        case _ => ()
      }
    )
    val running = queue.stream(1, lease, worker)(_ => Task.unit).drain.start.runSync()
    direct.offer(PgOffer("a")).runSync(): Unit
    eventually("it has done a job")(direct.counts.runSync() == PgQueue.Counts(0, 0, 0, 0))
    network.cut()
    await(isLost)
    stop.complete(()).runSync(): Unit
    running.joinOrFail.timeout(5.seconds).runSync()
