package planted.library.engine

final class Engine:
  def size: Int = 1

trait Part:
  def inherited: Int = 5
  def inheritedEngine: Engine = Engine()

object Engine:
  def default: Engine = Engine()
