package planted.circles.third

/** Closes the circle. */
final class Third:
  def first: planted.circles.first.First = planted.circles.first.First()
