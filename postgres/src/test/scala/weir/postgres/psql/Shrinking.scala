package weir.postgres.psql

/** Makes a script that fails small, by leaving out what is not needed for that. */
object Shrinking:
  /** A part of `script` for which `fails` still holds, after at most `tries` tries. */
  def apply(script: Script, tries: Int = 150)(fails: Script => Boolean): Script =
    var small = script
    var left = tries
    def tryOut(candidate: Script): Boolean =
      left -= 1
      val isSmaller = left >= 0 && candidate != small && fails(candidate)
      if isSmaller then small = candidate
      isSmaller

    var size = script.parts.length / 2
    while size > 0 do
      var from = 0
      while from < small.parts.length do
        if !tryOut(small.copy(parts = small.parts.patch(from, Nil, size))) then from += size
      size /= 2
    val _ = tryOut(small.copy(end = ""))
    val _ = tryOut(small.copy(byteOrderMark = false))
    for part <- small.parts.indices; data <- small.parts(part).data.indices do
      val one = small.parts(part).data(data)
      val rows = Script.Data(one.number, "\\." + small.newline)
      val _ = tryOut(
        small.copy(parts =
          small.parts.updated(
            part,
            small.parts(part).copy(data = small.parts(part).data.updated(data, rows))
          )
        )
      )
    small
