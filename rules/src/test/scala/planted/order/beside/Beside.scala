package planted.order.beside

/** Breaks the rule: `middle` is beside it. */
final class Beside:
  def middle: planted.order.middle.Middle = planted.order.middle.Middle()
