package weir.postgres.split

import weir.postgres.Position

/** A position that moves on over bytes. */
private[postgres] final class Place(var offset: Long, var line: Long, var column: Long):

  def position: Position = Position(offset, line, column)

  def move(bytes: Array[Byte], from: Int, to: Int): Unit =
    move(bytes, from, to, WordScan.newlines(bytes, from, to))

  /** Moves as the other `move` does, for a caller that has counted the newlines. */
  def move(bytes: Array[Byte], from: Int, to: Int, newlines: Int): Unit =
    var lineFrom = from
    if newlines > 0 then
      line += newlines
      column = 1
      lineFrom = to
      while bytes(lineFrom - 1) != '\n' do lineFrom -= 1
    column += WordScan.characters(bytes, lineFrom, to)
    offset += to - from

private[postgres] object Place:
  def at(position: Position): Place = Place(position.offset, position.line, position.column)
