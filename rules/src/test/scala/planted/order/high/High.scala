package planted.order.high

final class High:
  def size: Int = 1

trait Parent

extension (number: Int) def sized: Int = number
