package weir.testkit.explore

/** Lists what an exploration does not cover. */
private[explore] object NotCovered:
  /** Returns the causes of differences between the runs of a program, by name. */
  def byName(execution: Execution): List[String] =
    execution.outsiders.unrepeatableCalls.map(call => s"$call, which no schedule repeats") ++
      execution.outsiders.names.map(name => s"the thread $name, which is not one of the program's")

  def apply(execution: Execution): List[String] =
    val always = List(
      "fields and collections inside of libraries, unless a lock or an atomic guards them",
      "what the processor or the JIT reorders: each access is seen by all at once"
    )
    byName(execution) ++
      Instrumentation.failures.toList
        .sortBy(_._1)
        .take(5)
        .map((name, error) => s"the class ${name.replace('/', '.')}, not rewritten: $error") ++
      always
