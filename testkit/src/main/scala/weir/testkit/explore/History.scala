package weir.testkit.explore

import scala.collection.mutable
import weir.testkit.agent.{Site, Touch}

/** The operations of one run on a shared object: when each began and ended, and its result.
  *
  * An end that comes before a begin forbids the other order. So begins and ends are accesses to the
  * history, an end of one operation conflicts with a begin of another, and the exploration runs
  * both orders of the two.
  */
private[testkit] final class History[S]:
  private val calls = mutable.ArrayBuffer[History.Call[S]]()
  private var time = 0
  private var isClosed = false

  def invoked(fiber: Int, name: String, model: S => Option[(S, Any)]): History.Call[S] =
    Touch.at(this, History.begins)
    time += 1
    val call = History.Call(fiber, name, model, time)
    calls += call
    call

  def responded(call: History.Call[S], result: Either[Throwable, Any]): Unit =
    if !isClosed then
      Touch.at(this, History.ends)
      time += 1
      call.end = time
      call.result = result

  /** Closes the history. An operation that ends later has not ended by itself. */
  def close(): Unit = isClosed = true

  /** Returns true if there is a sequence of the calls that have ended which the model explains, and
    * after which each call that waits has to wait.
    */
  def isLinearizable(initial: S): Boolean =
    val ended = calls.filter(_.hasEnded).toVector
    val waiting = calls.filterNot(_.hasEnded).toVector
    val seen = mutable.Set[(Set[Int], S)]()

    def goesOn(done: Set[Int], state: S): Boolean =
      if done.size == ended.size then waiting.forall(_.model(state).isEmpty)
      else
        seen.add((done, state)) && ended.indices.exists(i =>
          !done(i) && mayBeNext(i, done) && (ended(i).model(state) match
            case Some((next, result)) =>
              ended(i).result == Right(result) && goesOn(done + i, next)
            case None => false)
        )

    /** Returns true if no other call that is left has ended before this one began. */
    def mayBeNext(i: Int, done: Set[Int]): Boolean =
      ended.indices.forall(j => done(j) || ended(j).end > ended(i).begin)

    goesOn(Set.empty, initial)

  /** Returns the calls of each fiber, with their results, as text. */
  def text: String = calls
    .groupBy(_.fiber)
    .toList
    .sortBy(_._1)
    .map((fiber, calls) => s"  fiber ${fiber + 1}: ${calls.map(_.text).mkString(", ")}")
    .mkString("\n")

private[testkit] object History:
  final class Call[S](
      val fiber: Int,
      val name: String,
      val model: S => Option[(S, Any)],
      val begin: Int
  ):
    var end: Int = Int.MaxValue
    var result: Either[Throwable, Any] = Right(())
    def hasEnded: Boolean = end != Int.MaxValue
    def text: String =
      if !hasEnded then s"$name waits"
      else result.fold(error => s"$name fails with $error", value => s"$name → $value")

  private def site(kind: Int, operation: String) = Touch.add(
    Site(kind, true, false, false, "history", operation, "weir.testkit.Linearizable", "", 0)
  )
  private val begins = site(Site.READ, "begins")
  private val ends = site(Site.RESPONSE, "ends")
