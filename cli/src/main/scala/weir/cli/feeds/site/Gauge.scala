package weir.cli.feeds.site

/** A number that goes up and down, and that a thread can wait for to reach a value. */
final class Gauge:
  // guarded by this
  private var value = 0

  def add(amount: Int): Unit = synchronized:
    value += amount
    notifyAll()

  /** '''Waits''' until the number is what `isReached` asks for. */
  def await(isReached: Int => Boolean): Unit = synchronized:
    while !isReached(value) do wait()
