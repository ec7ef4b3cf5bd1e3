package planted.reader

import planted.library
import planted.library.{Kept as Other, Library}

object ByMember:
  def value: Int = Library().hidden
object ByConstructor:
  def value: Any = new Library(1)
object ByRename:
  def value: Int = Other.value
object ByImportOfAMember:
  import Library.counted
  def value: Int = counted
object ByConstant:
  def value: String = Library.constant
object ByQualifiedName:
  def value: Any = planted.library.engine.Engine()
object ByRelativeName:
  def value: Any = library.engine.Engine.default
object ByType:
  def value: Option[library.engine.Engine] = None
object ByParent:
  final class Child extends library.engine.Part
object ByPattern:
  def value(any: Any): Boolean = any match
    case _: library.engine.Engine => true
    case _ => false
object ByChain:
  def value: Int = Library().engine.size
