import sbt._

/** Divides the suites of a module among several JVMs that end at about the same time. */
object Shares {

  /** Seconds of those that take long, as a run of `./weir test` on two processors showed them. Any
    * other takes about one. A wrong number costs time and nothing else.
    */
  private val seconds = Map(
    // cli
    "RelayCommandSuite" -> 75,
    "SharingSuite" -> 67,
    "ReaderBrowserSuite" -> 44,
    "SqlProcessSuite" -> 40,
    "PostgresSuite" -> 32,
    "FeedsCommandSuite" -> 28,
    "OutputSuite" -> 25,
    "SqlOutageSuite" -> 23,
    "CompareCommandSuite" -> 22,
    "ClientsCommandSuite" -> 18,
    "BenchCommandSuite" -> 17,
    "GiveKillSuite" -> 15,
    "LoadCommandSuite" -> 13,
    "BrowserSuite" -> 13,
    "SqlEnvironmentSuite" -> 13,
    "ChangedItemsSuite" -> 12,
    "LargeFeedsSuite" -> 12,
    "SqlFailureSuite" -> 10,
    // core
    "StreamRecursionSuite" -> 34,
    "WeirAppSuite" -> 23,
    "ParallelGridSuite" -> 15,
    "LawsSuite" -> 14,
    "SpinReportsSuite" -> 14,
    "HeapSlopeSuite" -> 11,
    "StreamOrdersSuite" -> 11,
    "RingSuite" -> 10,
    "UnhandledSuite" -> 10,
    // postgres
    "JobsSuite" -> 56,
    "PgDumpSuite" -> 46,
    "LostSuite" -> 40,
    "ServerKillSuite" -> 33,
    "ApplySuite" -> 31,
    "CancelSuite" -> 31,
    "TransactionSuite" -> 30,
    "RecordedSettingsSuite" -> 23,
    "CopyWatchSuite" -> 21,
    "QueueStreamSuite" -> 18,
    "QueueOutageSuite" -> 16,
    "PsqlEquivalenceSuite" -> 16,
    "ApplyGuardsSuite" -> 14,
    "JournalSuite" -> 10,
    "CutOffSuite" -> 10,
    // of the same name in two modules
    "KillSuite" -> 34,
    "OutageSuite" -> 16
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
