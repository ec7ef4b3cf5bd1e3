package weir.kafka

/** How much a test does whose work has no natural size: `./weir test` runs the short tier, `./weir
  * test --long` the long one. As `weir.Tier` of the library's own tests.
  */
object Tier:
  val isLong: Boolean = java.lang.Boolean.getBoolean("weir.long")

  /** `short`, or `long` in the long tier. */
  def apply[A](short: A, long: A): A = if isLong then long else short

  /** Where random material begins: the value of `property` if it is set; else always the same in
    * the short tier, and another each time in the long one.
    */
  def seed(property: String): Long =
    java.lang.Long.getLong(property, apply(1L, System.nanoTime() & 0xffffffffL)).longValue
