package weir

import java.util.concurrent.{ExecutionException, FutureTask}
import scala.collection.mutable.ArrayBuffer

/** Bodies of tests that mostly wait for other processes: as one is requested, the next ones begin
  * too, concurrently.
  */
final class Ahead(atOnce: Int):
  private val bodies = ArrayBuffer[FutureTask[Unit]]()
  private var begun = 0

  /** Adds a body. Returns a function that begins the body, if it has not begun, and waits for its
    * end.
    */
  def add(body: => Unit): () => Unit =
    val number = bodies.size
    bodies += FutureTask[Unit](() => body)
    () => await(number)

  private def await(number: Int): Unit =
    begun = begun.max(number) // those before it were left out
    while begun < bodies.size && begun < number + atOnce do
      Thread.ofPlatform().daemon().name("test, ahead").start(bodies(begun)): Unit
      begun += 1
    try bodies(number).get()
    catch case e: ExecutionException => throw e.getCause

  /** Waits for the bodies that have begun and that no test has requested, so that they leave no
    * process.
    */
  def close(): Unit =
    for body <- bodies.take(begun) if body.state == java.util.concurrent.Future.State.RUNNING do
      try body.get()
      catch case _: ExecutionException => ()
