package planted.order.low

/** Keeps the rule: it uses the root alone. */
final class Low:
  def api: planted.order.Api = planted.order.Api()
