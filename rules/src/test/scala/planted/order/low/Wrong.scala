package planted.order.low

import planted.order
import planted.order.{high, middle as between}

/** Each breaks the rule that `low` knows nothing above it, in a way of its own. */
object Wrong:
  final class ByField(val field: planted.order.high.High)
  final class ByParent extends planted.order.high.Parent
  final class ByBraces:
    def value: Any = high.High()
  final class ByRename:
    def value: Any = between.Middle()
  final class ByRelativeName:
    def value: Any = order.high.High()
  final class ByTypeArgument:
    val list: List[order.high.High] = Nil
  final class InsideOfAFunction:
    val function: () => Int = () => order.high.High().size
  final class ByExtension:
    def value: Int =
      import order.high.sized
      1.sized
