package planted.circles.second

final class Second:
  def third: planted.circles.third.Third = planted.circles.third.Third()
