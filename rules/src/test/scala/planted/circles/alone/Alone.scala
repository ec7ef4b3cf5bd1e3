package planted.circles.alone

/** Uses one of the circle, and is none of it. */
final class Alone:
  def first: planted.circles.first.First = planted.circles.first.First()
