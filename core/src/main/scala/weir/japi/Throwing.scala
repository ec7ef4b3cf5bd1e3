package weir.japi

/** A function of Java that may block and may throw any exception. */
trait ThrowingFunction[-T, +R]:
  @throws[Exception]
  def apply(argument: T): R

/** A consumer of Java that may block and may throw any exception. */
trait ThrowingConsumer[-T]:
  @throws[Exception]
  def accept(argument: T): Unit

/** Code of Java that returns no result, may block, and may throw any exception. */
trait ThrowingRunnable:
  @throws[Exception]
  def run(): Unit
