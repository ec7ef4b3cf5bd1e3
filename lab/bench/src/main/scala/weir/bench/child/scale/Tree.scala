package weir.bench.child.scale

/** Combines many streams two by two, so that no element goes through more than a few stages. */
private[scale] object Tree:
  def of[S](leaves: Vector[S])(combine: (S, S) => S): S =
    if leaves.size == 1 then leaves.head
    else
      val (left, right) = leaves.splitAt(leaves.size / 2)
      combine(of(left)(combine), of(right)(combine))
