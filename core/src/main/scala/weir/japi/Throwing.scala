package weir.japi

/** A function of Java that may block, and throw what it likes. */
trait ThrowingFunction[-T, +R]:
  @throws[Exception]
  def apply(argument: T): R

/** A consumer of Java that may block, and throw what it likes. */
trait ThrowingConsumer[-T]:
  @throws[Exception]
  def accept(argument: T): Unit

/** Code of Java without a result that may block, and throw what it likes. */
trait ThrowingRunnable:
  @throws[Exception]
  def run(): Unit
