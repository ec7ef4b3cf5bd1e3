package planted.through.first

/** Breaks the rule: by way of the root it reaches the package above it. */
final class First:
  def bridge: planted.through.Bridge = planted.through.Bridge()
