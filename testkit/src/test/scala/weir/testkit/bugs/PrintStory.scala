package weir.testkit.bugs

import weir.testkit.{ExploreFailure, TestRuntime}

/** Prints the stories of known bugs, by their names; without any, those of all. docs/stories.md has
  * five of them.
  *
  * `sbt 'testkit/Test/runMain weir.testkit.bugs.PrintStory "a permit lost by a cancel"'`
  */
object PrintStory:
  def main(names: Array[String]): Unit =
    val bugs = if names.isEmpty then KnownBugs.all else names.toList.map(named)
    bugs.foreach(bug => println(s"${of(bug)}\n"))

  /** Returns the known bug of that name. */
  def named(name: String): KnownBug = KnownBugs.all
    .find(_.name == name)
    .getOrElse(throw IllegalArgumentException(s"There is no known bug of the name \"$name\"."))

  /** Returns what `TestRuntime.explore` says of `bug`. */
  def of(bug: KnownBug): String =
    try s"It is not found: ${TestRuntime.explore()(bug.wrong)}"
    catch case failure: ExploreFailure => failure.getMessage
