package planted.order

/** The root may use every package, and every package may use it. */
final class Api:
  def high: planted.order.high.High = planted.order.high.High()
