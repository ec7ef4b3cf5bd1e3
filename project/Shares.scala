import sbt._

/** Divides the suites of a module among several JVMs that end at about the same time. */
object Shares {

  /** Seconds of those that take long, as a run of `./weir test` on two processors showed them. Any
    * other takes about one. A wrong number costs time and nothing else.
    */
  private val seconds = Map(
    // feeds
    "SharingSuite" -> 30,
    "ReaderBrowserSuite" -> 44,
    "PostgresSuite" -> 37,
    "FeedsCommandSuite" -> 30,
    "GiveKillSuite" -> 10,
    "LargeFeedsSuite" -> 14,
    // core
    "StreamRecursionSuite" -> 15,
    "WeirAppSuite" -> 18,
    "StreamDroppedSuite" -> 17,
    "HttpBodiesSuite" -> 16,
    "ParallelGridSuite" -> 13,
    "StreamOrdersSuite" -> 12,
    "RingSuite" -> 11,
    "BlockingSuite" -> 10,
    "FirstFailureSuite" -> 10,
    // postgres
    "JobsSuite" -> 30,
    "PgDumpSuite" -> 29,
    "JournalSuite" -> 25,
    "ServerKillSuite" -> 21,
    "TransactionSuite" -> 18,
    "CopyWatchSuite" -> 18,
    "LostSuite" -> 18,
    "ApplySuite" -> 17,
    "CancelSuite" -> 13,
    "PsqlEquivalenceSuite" -> 11,
    "ApplyGuardsSuite" -> 11,
    "RecordedSettingsSuite" -> 11,
    // postgres-queue
    "QueueOutageSuite" -> 16,
    "QueueStreamSuite" -> 13,
    "QueueKillSuite" -> 13,
    // of the same name in several modules
    "OutputSuite" -> 16,
    "KillSuite" -> 25,
    "OutageSuite" -> 11
  )

  private def secondsOf(suite: TestDefinition): Int =
    seconds.getOrElse(suite.name.split('.').last, 1)

  /** Divides the suites into `count` shares: the longest suite goes first, and each goes to the
    * shortest share so far. Within its share a suite runs in the order of the names, so that the
    * long ones do not run at the same time.
    */
  def apply(suites: Seq[TestDefinition], count: Int): Seq[Seq[TestDefinition]] = {
    val none = Vector.fill(count)(Vector.empty[TestDefinition])
    val longestFirst = suites.sortBy(suite => (-secondsOf(suite), suite.name))
    val shares = longestFirst.foldLeft(none) { (shares, suite) =>
      val shortest = shares.indices.minBy(shares(_).map(secondsOf).sum)
      shares.updated(shortest, shares(shortest) :+ suite)
    }
    shares.map(_.sortBy(_.name))
  }
}
