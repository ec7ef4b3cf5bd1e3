package weir.bench.child.sleepers

import cats.effect.IO
import cats.syntax.all.*
import scala.concurrent.duration.*
import zio.{Duration as ZioDuration, ZIO}

import weir.Task
import weir.bench.Rivals

/** Starts fibers that sleep on one system, in the way that its documentation shows. */
private[sleepers] trait SleepSystem:
  /** Starts fibers that each call `begin` with their number, sleep for as many nanoseconds as it
    * returns, and call `end`. Returns when all are started.
    */
  def start(fibers: Int)(begin: Int => Long)(end: Int => Unit): Unit

  /** Starts fibers that all run one and the same task: it sleeps that long, and then calls `end`.
    * So the heap that they take is their own, and not their tasks'.
    */
  def startAlike(fibers: Int, nanos: Long)(end: () => Unit): Unit

private[sleepers] object SleepSystem:
  /** Returns the system by its name. */
  def of(name: String): SleepSystem = name match
    case "weir" => OnWeir
    case "cats-effect" => OnCatsEffect
    case "zio" => OnZio
    case "virtual-threads" => OnVirtualThreads
    case other => throw IllegalArgumentException(s"sleepers does not run on '$other'")

  private object OnWeir extends SleepSystem:
    def start(fibers: Int)(begin: Int => Long)(end: Int => Unit): Unit =
      Task
        .foreach(0 until fibers)(i =>
          Task(begin(i)).flatMap(nanos => Task.sleep(nanos.nanos)).map(_ => end(i)).start
        )
        .runSync()

    def startAlike(fibers: Int, nanos: Long)(end: () => Unit): Unit =
      val start = Task.sleep(nanos.nanos).map(_ => end()).start
      Task.foreach(0 until fibers)(_ => start).runSync()

  private object OnCatsEffect extends SleepSystem:
    def start(fibers: Int)(begin: Int => Long)(end: Int => Unit): Unit =
      Rivals.runCats(
        (0 until fibers).toList.traverse_(i =>
          IO(begin(i)).flatMap(nanos => IO.sleep(nanos.nanos)).map(_ => end(i)).start
        )
      )

    def startAlike(fibers: Int, nanos: Long)(end: () => Unit): Unit =
      val start = IO.sleep(nanos.nanos).map(_ => end()).start
      Rivals.runCats((0 until fibers).toList.traverse_(_ => start))

  private object OnZio extends SleepSystem:
    def start(fibers: Int)(begin: Int => Long)(end: Int => Unit): Unit =
      Rivals.runZio(
        ZIO.foreachDiscard(0 until fibers)(i =>
          ZIO
            .succeed(begin(i))
            .flatMap(nanos => ZIO.sleep(ZioDuration.fromNanos(nanos)))
            .map(_ => end(i))
            .forkDaemon
        )
      )

    def startAlike(fibers: Int, nanos: Long)(end: () => Unit): Unit =
      val start = ZIO.sleep(ZioDuration.fromNanos(nanos)).map(_ => end()).forkDaemon
      Rivals.runZio(ZIO.foreachDiscard(0 until fibers)(_ => start))

  private object OnVirtualThreads extends SleepSystem:
    def start(fibers: Int)(begin: Int => Long)(end: Int => Unit): Unit =
      for i <- 0 until fibers do
        Thread.startVirtualThread { () =>
          Thread.sleep(java.time.Duration.ofNanos(begin(i)))
          end(i)
        }: Unit

    def startAlike(fibers: Int, nanos: Long)(end: () => Unit): Unit =
      val body: Runnable = () =>
        Thread.sleep(java.time.Duration.ofNanos(nanos))
        end()
      for _ <- 0 until fibers do Thread.startVirtualThread(body): Unit
