package weir.postgres.jobs

/** Maps a row of one part of a COPY to the row of its body.
  *
  * The server counts the rows of each connection by themselves. For each chunk this keeps how many
  * rows came before it: in its part, and in the body.
  */
private[postgres] final class PartRows(parts: Int):
  private val inPart = Array.fill(parts)(PartRows.Numbers())
  private val inBody = Array.fill(parts)(PartRows.Numbers())
  private val counted = new Array[Long](parts)
  private var all = 0L

  /** The next chunk goes to `part`. Chunks come in the order of the body. */
  def begins(part: Int): Unit = synchronized {
    inPart(part).append(counted(part))
    inBody(part).append(all)
  }

  /** That chunk has ended, and has had this many rows. */
  def ends(part: Int, rows: Long): Unit = synchronized {
    counted(part) += rows
    all += rows
  }

  /** Returns the row of the body, from 1, that is `row` of `part`, from 1. */
  def inBody(part: Int, row: Long): Long = synchronized {
    val chunk = inPart(part).lastBelow(row)
    if chunk < 0 then row else inBody(part)(chunk) + row - inPart(part)(chunk)
  }

private[postgres] object PartRows:
  /** Numbers that only grow: sixteen bytes for each chunk of 256 KB or more. */
  private final class Numbers:
    private var values = new Array[Long](16)
    private var size = 0
    def apply(i: Int): Long = values(i)
    def append(value: Long): Unit =
      if size == values.length then values = java.util.Arrays.copyOf(values, size * 2)
      values(size) = value
      size += 1

    /** The last place whose number is below `value`, or -1. */
    def lastBelow(value: Long): Int =
      var low = 0
      var high = size
      while low < high do
        val middle = (low + high) >>> 1
        if values(middle) < value then low = middle + 1 else high = middle
      low - 1
