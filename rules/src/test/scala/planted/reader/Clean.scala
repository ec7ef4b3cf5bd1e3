package planted.reader

import planted.library.{Inheriting, Library}

/** Uses what is public alone. */
final class Clean:
  def library: Int = Library().open
  def inherited: Int = Inheriting().inherited
  def own: Int = Clean.secret

  /** Expands to a call of what is private, which is the library's business. */
  def inlined: Int = Library().inlined

object Clean:
  private[planted] def secret: Int = 6
