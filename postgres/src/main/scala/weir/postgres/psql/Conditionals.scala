package weir.postgres.psql

/** The `\if` blocks that are open, and the branch that each is in. */
private[psql] final class Conditionals:
  import Conditionals.State
  import State.*

  private var open = List.empty[State]

  /** Returns the number of blocks that are open. */
  def depth: Int = open.length

  /** Returns true if statements and commands are carried out here. */
  def isActive: Boolean = open.headOption.forall(state => state == Taken || state == LastTaken)

  /** Returns true if the expression of `\elif` counts here. */
  def isWaiting: Boolean = open.headOption.contains(Waiting)

  /** @param isTrue
    *   the value of the expression; evaluated only where it counts
    */
  def begin(isTrue: => Boolean): Unit =
    val state = if !isActive then Over else if isTrue then Taken else Waiting
    open = state :: open

  /** As `\elif`. `isTrue` is evaluated after the branch has become active. */
  def orElse(isTrue: => Boolean): Unit = become("elif"):
    case Waiting =>
      become("elif") { case _ => Taken }
      if isTrue then Taken else Waiting
    case _ => Over

  def otherwise(): Unit = become("else"):
    case Waiting => LastTaken
    case _ => LastOver

  def end(): Unit =
    if open.isEmpty then throw unmatched("endif")
    open = open.tail

  private def become(name: String)(next: State => State): Unit =
    open match
      case Nil => throw unmatched(name)
      case (LastTaken | LastOver) :: _ =>
        throw CommandProblem(s"\\$name after \\else", "An \\if block ends with its \\else branch.")
      case state :: _ =>
        val after = next(state)
        open = after :: open.tail

  private def unmatched(name: String) =
    CommandProblem(s"\\$name without \\if", "Each \\if block begins with \\if.")

private[psql] object Conditionals:
  private enum State:
    case Waiting // no branch was taken yet
    case Taken // this branch is
    case Over // a branch before it was, or the block is in a branch that is not taken
    case LastTaken, LastOver // the same after `\else`
