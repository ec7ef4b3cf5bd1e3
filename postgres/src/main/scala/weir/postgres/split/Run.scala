package weir.postgres.split

import weir.postgres.Position

/** Bytes that are contiguous in the script, and their position.
  *
  * @param stays
  *   the bytes stand for a variable at this place of the script: all of them have its position
  */
private[split] final class Run(start: Position, val stays: Boolean = false):
  private val place = Place.at(start)
  private var placed = 0 // the index that `place` is for

  /** The bytes as the lexer reads them, and as they are in the script. */
  var bytes: Array[Byte] = Array.emptyByteArray
  var raw: Array[Byte] = Array.emptyByteArray
  var index = 0 // of the next byte
  var end = 0

  /** Goes on with bytes that follow the last ones, masked by `mask`, if there is one. */
  def follow(next: Array[Byte], from: Int, to: Int, mask: CharacterMask | Null = null): Unit =
    place.move(bytes, placed, end)
    raw = next
    bytes = if mask eq null then next else mask.of(next, from, to)
    index = from
    placed = from
    end = to

  /** Masks the bytes from the next one on by another mask. */
  def maskAnew(mask: CharacterMask | Null): Unit =
    position(index): Unit
    bytes = if mask eq null then raw else mask.of(raw, index, end)

  def isSpent: Boolean = index == end

  def offset(at: Int): Long = if stays then start.offset else place.offset + (at - placed)

  /** Returns the position of a byte. It must not be before a byte that was asked for earlier. */
  def position(at: Int): Position =
    if stays then start
    else
      place.move(bytes, placed, at)
      placed = at
      place.position

  /** Returns the position of a byte, or of the first one after it that may be asked for. */
  def positionFrom(at: Int): Position = position(at.max(placed))

  /** Returns the position of a byte, for a caller that has counted the newlines since `placed`, the
    * byte of the last position.
    */
  def position(at: Int, newlines: Int): Position =
    place.move(bytes, placed, at, newlines)
    placed = at
    place.position

  /** The byte-order mark, before all that was asked for, is not to be counted as a character: no
    * editor does.
    */
  def uncountMark(): Unit = if place.line == 1 then place.column -= 1
