package weir.testkit.explore

import java.lang.reflect.Field
import java.util.concurrent.locks.{ReentrantLock, ReentrantReadWriteLock}
import weir.testkit.VirtualThreads

/** Finds the objects that are one shared thing: the two locks of a read-write lock, and a lock and
  * its conditions.
  */
private[explore] object Parts:
  private val locks = "java.util.concurrent.locks"
  VirtualThreads.load() // its agent opens the package to the test kit

  private def field(of: Class[?], name: String): Field =
    val field = of.getDeclaredField(name)
    field.setAccessible(true)
    field

  private val reading = field(classOf[ReentrantReadWriteLock.ReadLock], "sync")
  private val writing = field(classOf[ReentrantReadWriteLock.WriteLock], "sync")
  private val both = field(classOf[ReentrantReadWriteLock], "sync")
  private val lock = field(classOf[ReentrantLock], "sync")
  private val condition = Class.forName(s"$locks.AbstractQueuedSynchronizer$$ConditionObject")
  private val conditions = field(condition, "this$0")

  /** Returns the object that stands for all parts of the thing that `on` is a part of. */
  def wholeOf(on: AnyRef): AnyRef = on match
    case on: ReentrantLock => lock.get(on)
    case on: ReentrantReadWriteLock.ReadLock => reading.get(on)
    case on: ReentrantReadWriteLock.WriteLock => writing.get(on)
    case on: ReentrantReadWriteLock => both.get(on)
    case _ if on.getClass eq condition => conditions.get(on)
    case _ => on
