package planted.order.middle

/** Keeps the rule: it uses what is below it. */
final class Middle:
  def low: planted.order.low.Low = planted.order.low.Low()
