package planted.circles

/** The root is left out of circles. */
final class Root:
  def first: planted.circles.first.First = planted.circles.first.First()
