package weir.console

import java.time.Instant
import scala.concurrent.duration.*
import weir.*
import weir.metrics.DeadJobs
import weir.std.*

/** A program with something to see on each page, and with planted faults: a lock that is never
  * released, a queue that only grows, two fibers that wait for each other. Its arguments are the
  * port and the number of fibers that wait; with `idle` as a third one it does nothing else.
  */
object Demo:
  /** Fibers that wait for what nobody can reach would be collected. */
  @volatile var kept = List.empty[AnyRef]

  def main(arguments: Array[String]): Unit =
    val port = arguments.headOption.fold(8090)(_.toInt)
    val fiberCount = arguments.lift(1).fold(1000)(_.toInt)
    val shown =
      if arguments.lift(2).contains("idle") then
        Task.traverse(1 to fiberCount)(session(_).start).flatMap(Task.foreach(_)(_.join))
      else program(fiberCount)
    Console.serve(port, mayChange = true).use(_ => shown).runSync()

  private def program(fiberCount: Int): Task[Unit] =
    for
      sessions <- Task.traverse(1 to fiberCount)(session(_).start)
      orders <- Queue.unbounded[Int].map(_.named("orders"))
      mails <- Queue.bounded[Int](100).map(_.named("mails"))
      ledger = Mutex.unsafe().named("ledger")
      connections <- Semaphore(4).map(_.named("connections"))
      users <- Cache[Int, String](maxSize = 100).map(_.named("users"))
      monitor <- StreamMonitor().map(_.named("billing"))
      _ = kept :::= List(ledger, DeadJobs.register(Mails))
      _ <- ledger.withLock(Task.never).start
      _ <- Task.sleep(100.millis).andThen(Task.foreach(1 to 3)(_ => book(ledger).start))
      _ <- waitForEachOther
      _ <- orders.offer(1).andThen(Task.sleep(20.millis)).forever.start
      _ <- orders.take.andThen(Task.sleep(50.millis)).forever.start
      _ <- mails.offer(1).andThen(Task.sleep(10.millis)).forever.start
      _ <- mails.take.andThen(Task.sleep(5.millis)).forever.start
      _ <- Task.foreach(1 to 6)(i =>
        connections
          .withPermit(users.get(i)(Task.pure("a")).andThen(Task.sleep(30.millis)))
          .forever
          .start
      )
      _ <- bills(monitor)
      _ <- Task.foreach(sessions)(_.join)
    yield ()

  private object Mails extends DeadJobs:
    private val errors = Vector("connection refused: mail.example:25", "no such mailbox")
    def name = "weir_queue.mails"
    def list(limit: Int): Vector[DeadJobs.Job] =
      errors.zipWithIndex.map { (error, i) =>
        DeadJobs.Job(1041 + i, 5, Instant.parse("2026-11-27T08:00:00Z"), Some(s"order-$i"), error)
      }
    def revive(ids: Vector[Long]): Int = ids.size
    def delete(ids: Vector[Long]): Int = 0

  private def session(number: Int): Task[Unit] =
    Task.sleep(1.hour).map(_ => if number < 0 then println(number))

  private def book(ledger: Mutex): Task[Unit] =
    ledger.withLock(Task.unit).map(_ => println("booked"))

  private def waitForEachOther: Task[Unit] =
    val (first, second) = (Deferred.unsafe[Fiber[Any]], Deferred.unsafe[Fiber[Any]])
    for
      one <- second.get.flatMap(_.join).start
      other <- first.get.flatMap(_.join).start
      _ <- first.complete(one)
      _ <- second.complete(other)
      _ = kept :::= List(one, other)
    yield ()

  private def bills(monitor: StreamMonitor): Task[Unit] =
    Stream
      .emits(1 to 1_000_000)
      .named("read")
      .prefetchN(16)
      .parEvalMap(4)(i => Task.sleep(5.millis).as(i))
      .named("price")
      .prefetchN(16)
      .evalMap(i => Task.sleep(2.millis).as(i))
      .named("store")
      .observed(monitor)
      .drain
