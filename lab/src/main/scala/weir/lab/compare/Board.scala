package weir.lab.compare

import weir.lab.compare.SideBySide.{Listener, Place}

/** The progress of each run, reported by the runs and read by the display.
  *
  * @param onEnd
  *   called once for each run, when it is over
  */
final class Board(places: Seq[Place], onEnd: Place => Unit) extends Listener:
  import Board.State

  // shared, under this object's lock
  private var states = places.map(_ -> State.Going("")).toMap[Place, State]

  def apply(place: Place): State = synchronized(states(place))

  def isOver(place: Place): Boolean = apply(place).isOver

  def progress(place: Place, letters: String): Unit = synchronized:
    if !isOver(place) then states = states.updated(place, State.Going(letters))

  def ended(place: Place, millis: Double): Unit = end(place, State.Ended(_, millis))
  def failed(place: Place, why: String): Unit = end(place, State.Failed(_, why))
  def hung(place: Place, why: String): Unit = end(place, State.Hung(_, why))

  /** Ends the runs of a JVM that will report no more. */
  def abandon(gone: Seq[Place], why: String): Unit =
    gone.filterNot(isOver).foreach(failed(_, why))

  private def end(place: Place, state: String => State): Unit =
    synchronized:
      states = states.updated(place, state(states(place).letters))
    onEnd(place)

object Board:
  enum State(val isOver: Boolean):
    def letters: String

    case Going(letters: String) extends State(false)
    case Ended(letters: String, millis: Double) extends State(true)
    case Failed(letters: String, why: String) extends State(true)
    case Hung(letters: String, why: String) extends State(true)
