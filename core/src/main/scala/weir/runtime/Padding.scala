package weir.runtime

import java.lang.invoke.{MethodHandles, VarHandle}
import scala.annotation.static

/** 128 bytes of padding after the fields of the superclass: two cache lines, since a processor may
  * fetch them in pairs. So the fields that carriers write there share no line with the object that
  * follows in memory.
  *
  * It must be mixed into a class that has no fields of its own: the JVM places the fields of a
  * class behind those of its superclass, and those of one class in any order.
  */
private[runtime] trait Padding:
  // Never read. They are not private: the compiler would warn that they are unused.
  protected var pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7: Long = 0L
  protected var pad8, pad9, pad10, pad11, pad12, pad13, pad14, pad15: Long = 0L

/** As `Padding`, in front of the fields of a subclass. */
private[runtime] abstract class PaddedFront:
  protected var front0, front1, front2, front3, front4, front5, front6, front7: Long = 0L
  // An object's header is 12 bytes long: without this field, a field of the subclass is put next to
  // it.
  protected var front: Int = 0
  protected var front8, front9, front10, front11, front12, front13, front14, front15: Long = 0L

/** A flag on a cache line of its own. */
private[runtime] abstract class Flag extends PaddedFront:
  // shared
  @volatile private var value = false

  final def isSet: Boolean = value
  final def set(): Unit = value = true
  final def clear(): Unit = value = false

  /** Sets the flag. Returns true if this call has set it. */
  final def trySet(): Boolean = Flag.Value.compareAndSet(this, false, true)

private[runtime] object Flag:
  @static private val Value: VarHandle =
    MethodHandles.lookup().findVarHandle(classOf[Flag], "value", classOf[Boolean])

  def apply(): Flag = new Padded

  private final class Padded extends Flag, Padding
