package weir.postgres

/** How scripts are applied.
  *
  * @param onError
  *   what an error of a statement means for those after it. psql goes on unless it is told otherwise; this stops.
  * @param singleTransaction
  *   all scripts are one transaction. A script that ends a transaction is refused, at that statement.
  * @param prefetchLimitBytes
  *   how much of a script may wait, split, for the server
  * @param slowest
  *   how many of the slowest statements the summary holds
  */
final case class ApplyOptions(
    onError: OnError = OnError.Stop,
    singleTransaction: Boolean = false,
    prefetchLimitBytes: Long = 4 << 20,
    slowest: Int = 5
):
  require(
    !(singleTransaction && onError == OnError.Continue),
    "ApplyOptions: singleTransaction together with OnError.Continue. After an error a transaction " +
      "takes no more statements. Use one of the two."
  )

/** What an error of a statement means for those after it. */
enum OnError:
  /** They do not run. */
  case Stop

  /** They run. A connection that was lost, and a script that cannot be split, still end it all. */
  case Continue
