package weir.lab.clients

/** A way to ask about many clients.
  *
  * @param reach
  *   the number of clients that it can ask about while one answer takes its time
  */
enum Way(val name: String, val system: String, val reach: Way.Reach):
  case OneByOne extends Way("one-by-one", "java-stream", Way.Reach.One)
  case ParallelStream extends Way("parallel-stream", "java-stream", Way.Reach.Processors)
  case PoolOf100 extends Way("pool-of-100", "completable-future", Way.Reach.Few)
  case ThreadEach extends Way("thread-each", "virtual-threads", Way.Reach.Any)
  case Blocking extends Way("blocking", "weir", Way.Reach.Any)
  case Async extends Way("async", "weir", Way.Reach.Any)
  case Direct extends Way("direct", "weir", Way.Reach.Any)

  /** Returns the measured case's name. */
  def caseOf(ids: Int): String = s"$ids ids: $name"

object Way:
  enum Reach:
    case One, Processors, Few, Any
