package planted.through

final class Bridge:
  def second: planted.through.second.Second = planted.through.second.Second()
