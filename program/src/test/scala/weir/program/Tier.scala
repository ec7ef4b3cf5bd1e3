package weir.program

/** The amount of work of tests without a natural size: `./weir test` runs the short tier, `./weir
  * test --long` the long one. As `weir.Tier` of the library's own tests.
  */
object Tier:
  val isLong: Boolean = java.lang.Boolean.getBoolean("weir.long")

  /** `short`, or `long` in the long tier. */
  def apply[A](short: A, long: A): A = if isLong then long else short

  /** Returns the seed of random material: the value of `property` if it is set; otherwise a
    * constant in the short tier, and another one each time in the long tier.
    */
  def seed(property: String): Long =
    java.lang.Long.getLong(property, apply(1L, System.nanoTime() & 0xffffffffL)).longValue
