package planted.library

import planted.library.engine.{Engine, Part}

/** What a module offers, and what it keeps to itself. */
final class Library private[planted] (start: Int):
  def open: Int = hidden + start
  private[planted] def hidden: Int = 2
  inline def inlined: Int = Library.counted
  private[planted] def engine: Engine = Engine()

object Library:
  def apply(): Library = new Library(1)
  private[planted] def counted: Int = 3
  private[planted] val constant: String = "kept"

private[planted] object Kept:
  def value: Int = 4

/** Has a member of a class of an inner package, which is public all the same. */
final class Inheriting extends Part

/** Each public signature names a class that the caller cannot name. */
final class Leaking:
  def returned: Engine = Engine()
  def inferred = Engine()
  def taken(engine: Engine): Int = engine.size
  def inList: List[Map[Int, Engine]] = Nil
  val value: Option[Engine] = None
  def orEngine: Int | Engine = 1
  def kept: Kept.type = Kept

/** The same types, where nobody outside can see them. */
final class NotLeaking private[planted] (val size: Int, engine: Engine):
  private[planted] def returned: Engine = engine
  def inside: Int =
    def local: Engine = engine
    local.size
