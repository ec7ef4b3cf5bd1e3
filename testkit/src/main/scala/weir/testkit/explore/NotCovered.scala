package weir.testkit.explore

/** Lists what an exploration does not cover. */
private[explore] object NotCovered:
  /** Returns the causes of differences between the runs of a program, by name. */
  def byName(execution: Execution): List[String] =
    execution.outsiders.unrepeatableCalls.map(call => s"$call, which no schedule repeats") ++
      execution.outsiders.names.map(name => s"the thread $name, which is not one of the program's")

  def apply(execution: Execution): List[String] =
    val always = List(
      "fields, arrays and collections inside of libraries, unless a lock or an atomic guards them",
      "initializers of classes, objects and lazy values: no other fiber takes over inside of one",
      "spurious wake-ups",
      "reordering by the processor or the JIT compiler: each access is visible to all at once"
    )
    val timers = Option.unless(execution.limits.earlyTimers)(
      "timeouts that end while another fiber can run, unless earlyTimers is set"
    )
    byName(execution) ++ notRewritten ++ always ++ timers

  private def notRewritten: List[String] =
    val failures = Instrumentation.failures.toList.sortBy(_._1)
    val named = failures.take(most).map { (name, error) =>
      s"the class ${name.replace('/', '.')}, not rewritten: $error"
    }
    val more = failures.size - most
    if more <= 0 then named else named :+ s"$more more classes, not rewritten"

  private val most = 5
