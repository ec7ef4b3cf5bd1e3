package weir

/** The amount of work of a test whose work has no natural size: `./weir test` runs the short tier,
  * `./weir test --long` the long one. If a test has a property of its own, such as
  * `-Dweir.stress.seconds`, that property decides.
  */
object Tier:
  val isLong: Boolean = java.lang.Boolean.getBoolean("weir.long")

  /** `short`, or `long` in the long tier. */
  def apply[A](short: A, long: A): A = if isLong then long else short

  /** The value of `property` if it is set; else `short`, or `long` in the long tier. */
  def size(property: String, short: Int, long: Int): Int =
    Integer.getInteger(property, apply(short, long)).intValue

  /** Returns the seed of random material: the value of `property` if it is set. Otherwise it is
    * always the same in the short tier, whose result must not depend on chance, and another one
    * each time in the long tier.
    */
  def seed(property: String): Long =
    java.lang.Long.getLong(property, apply(1L, System.nanoTime() & 0xffffffffL)).longValue
