package weir.lab.compare

/** The course of one run of a way: the tasks that have been produced and consumed so far.
  *
  * @param tasksPerLetter
  *   the number of tasks for a letter of `letters`
  */
final class Course(plan: Plan, tasksPerLetter: Int):
  private val tasks = plan.consumeNanos.size

  // shared, under this object's lock
  private val timesConsumed = new Array[Int](tasks)
  private val shown = StringBuilder()
  private var produced = 0
  private var begun = 0
  private var mostAtATime = 0
  private var consumed = 0

  def produce(count: Int): Unit = synchronized:
    shown.append("P" * ((produced + count) / tasksPerLetter - produced / tasksPerLetter))
    produced += count

  /** Returns the place, from 0, of a task whose consumption begins now. */
  def begin(): Int = synchronized:
    begun += 1
    mostAtATime = mostAtATime.max(begun - consumed)
    begun - 1

  def consume(task: Int): Unit = synchronized:
    timesConsumed(task) += 1
    consumed += 1
    if consumed % tasksPerLetter == 0 then shown.append('C'): Unit

  /** Returns a P for every `tasksPerLetter` tasks produced and a C for every `tasksPerLetter`
    * consumed, in their order.
    */
  def letters: String = synchronized(shown.toString)

  /** Describes how far the run has got. */
  def progress: String = synchronized(s"$produced of $tasks tasks produced, $consumed consumed")

  /** Returns the mistake of a run that has ended; none if each task was consumed exactly once, and
    * never more of them at a time than the plan allows.
    */
  def mistake: Option[String] = synchronized:
    val wrong = timesConsumed.indexWhere(_ != 1)
    if wrong >= 0 then Some(s"task $wrong was consumed ${timesConsumed(wrong)} times")
    else
      Option.when(mostAtATime > plan.parallelism)(
        s"$mostAtATime tasks were consumed at a time, and the limit is ${plan.parallelism}"
      )
