package planted.circles.first

final class First:
  def root: planted.circles.Root = planted.circles.Root()
  def second: planted.circles.second.Second = planted.circles.second.Second()
