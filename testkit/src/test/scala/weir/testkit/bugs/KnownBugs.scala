package weir.testkit.bugs

/** All of them. */
object KnownBugs:
  val all: List[KnownBug] = UpdateBugs.all ++ LockBugs.all ++ OrderBugs.all ++ CancelBugs.all
