package weir.kafka.consumer

import java.util.ArrayDeque
import scala.util.Try
import weir.Task

/** Calls that fibers want the poll thread to make. */
private[kafka] final class Requests(wake: () => Unit):
  // under this lock
  private val waiting = ArrayDeque[Requests.Request[?]]()
  private var isClosed = false

  /** Returns the value of `call`, which the poll thread makes; that of `absent` once it has ended.
    */
  def ask[A](absent: => A)(call: => A): Task[A] = Task.async { resume =>
    val request = Requests.Request(resume, () => call, () => absent)
    val isAdded = synchronized {
      if !isClosed then waiting.add(request): Unit
      !isClosed
    }
    if isAdded then wake() else request.end()
  }

  /** Makes the calls. */
  def run(): Unit =
    var next = take()
    while next != null do
      next.run()
      next = take()

  /** Makes no more. */
  def close(): Unit =
    synchronized { isClosed = true }
    var next = take()
    while next != null do
      next.end()
      next = take()

  private def take(): Requests.Request[?] | Null = synchronized(waiting.poll())

private object Requests:
  final class Request[A](resume: Either[Throwable, A] => Unit, call: () => A, absent: () => A):
    def run(): Unit = resume(Try(call()).toEither)
    def end(): Unit = resume(Try(absent()).toEither)
