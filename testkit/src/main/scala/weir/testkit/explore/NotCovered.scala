package weir.testkit.explore

/** Tells what an exploration does not cover. */
private[explore] object NotCovered:
  def apply(execution: Execution): List[String] =
    val always = List(
      "fields and collections inside of libraries, unless a lock or an atomic guards them",
      "what the processor or the JIT reorders: each access is seen by all at once"
    )
    execution.outsiders.map(name => s"the thread $name, which is not one of the program's") ++
      Instrumentation.failures.toList
        .sortBy(_._1)
        .take(5)
        .map((name, error) => s"the class ${name.replace('/', '.')}, not rewritten: $error") ++
      always
