package weir.testkit.explore

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters.*
import weir.fiber.Waiter

/** The influences from outside of an explored program: threads that let one of its threads go on,
  * and calls whose results differ from run to run.
  *
  * **Shared**: `arrived` and the names, which threads outside write. Only the driver uses the rest.
  */
private[testkit] final class Outsiders:
  private val arrived = ConcurrentLinkedQueue[Runnable]()
  private val threads = ConcurrentHashMap[String, Unit]()
  private val calls = ConcurrentHashMap[String, Unit]()
  private val waits = ArrayBuffer[Waiter]()

  def reset(): Unit =
    arrived.clear()
    waits.clear()

  /** Called by a thread outside: `continuation` can go on. */
  def arrive(continuation: Runnable): Unit =
    arrived.add(continuation): Unit
    val name = Thread.currentThread().getName
    if !name.startsWith("VirtualThread-unblocker") then threads.put(name, ()): Unit

  /** Reports that a fiber waits for a callback, which code outside may call. */
  def awaits(waiter: Waiter): Unit = waits += waiter

  def note(call: String): Unit = calls.put(call, ()): Unit

  /** Passes the continuations that have arrived to `ready`. Returns true if there were any. */
  def take(ready: Runnable => Unit): Boolean =
    var continuation = arrived.poll()
    val any = continuation ne null
    while continuation ne null do
      ready(continuation)
      continuation = arrived.poll()
    any

  /** Returns true if a fiber waits for a callback. */
  def areAwaited: Boolean = waits.exists(_.isOpen)

  /** True while the driver waits here. Read by any thread. */
  @volatile var isAwaiting = false

  /** Waits until something has arrived, at most so long in real time. */
  def await(nanos: Long): Unit =
    val until = System.nanoTime() + nanos
    isAwaiting = true
    // By spinning: this may run on a thread of the program, which must not wait.
    while arrived.isEmpty && System.nanoTime() < until do Thread.onSpinWait()
    isAwaiting = false

  /** Returns the calls of the program whose results may differ from run to run. */
  def unrepeatableCalls: List[String] = calls.keySet.asScala.toList.sorted

  /** Returns the names of threads that are not explored, and have let an explored one go on. */
  def names: List[String] = threads.keySet.asScala.toList.sorted
