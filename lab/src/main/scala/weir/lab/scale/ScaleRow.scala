package weir.lab.scale

/** A program whose operations a second are measured with more and more carriers.
  *
  * @param id
  *   the name in options and results
  * @param operation
  *   the operation that is counted; a run makes many
  * @param spreads
  *   true if the work can be spread over all carriers. If not, all of it goes through one object,
  *   or one fiber, and the best possible result is that nothing gets slower.
  * @param systems
  *   the systems that have a natural form of it
  */
enum ScaleRow(
    val id: String,
    val title: String,
    val operation: String,
    val spreads: Boolean,
    val systems: Set[String]
):
  case ForkFlat
      extends ScaleRow(
        "fork-flat",
        "fork and join: one parent",
        "a fiber that one fiber starts, and that ends at once",
        false,
        Has.forks
      )
  case ForkTree
      extends ScaleRow(
        "fork-tree",
        "fork and join: a tree",
        "a fiber that computes a part of a Fibonacci number",
        true,
        Has.forks
      )
  case Yields
      extends ScaleRow(
        "yields",
        "yields",
        "a yield of one of 4 fibers for each carrier",
        true,
        Has.fibers
      )
  case QueueOne
      extends ScaleRow(
        "queue-one",
        "queue 1:1",
        "a value through a queue of 128, from one fiber to another",
        false,
        Has.fibers
      )
  case QueueMany
      extends ScaleRow(
        "queue-many",
        "queue n:n",
        "a value through one queue of 128; a producer and a consumer for each carrier",
        false,
        Has.fibers
      )
  case QueuePairs
      extends ScaleRow(
        "queue-pairs",
        "queues in pairs",
        "a value through a queue of 128; a producer, a consumer and a queue for each carrier",
        true,
        Has.fibers
      )
  case GatherReady
      extends ScaleRow(
        "gather-ready",
        "gather: ready",
        "a task that is ready, of 1,000 gathered",
        false,
        Has.forks
      )
  case GatherForked
      extends ScaleRow(
        "gather-forked",
        "gather: forked",
        "a task that yields once, of 1,000 gathered",
        true,
        Has.fibers
      )
  case GatherWork
      extends ScaleRow(
        "gather-work",
        "gather: 1 µs of work",
        "a task that computes for 1 µs, of 1,000 gathered",
        true,
        Has.forks
      )
  case TimersSet
      extends ScaleRow(
        "timers-set",
        "timers set and removed",
        "a limit of one minute around a task that yields once; 4 fibers for each carrier",
        true,
        Has.fibers
      )
  case TimersRing
      extends ScaleRow(
        "timers-ring",
        "timers that ring",
        "a sleep of 1 ms, of 10,000 fibers",
        true,
        Has.forks
      )
  case Semaphore
      extends ScaleRow(
        "semaphore",
        "semaphore, contended",
        "a permit held across a yield; a permit and 4 fibers for each carrier",
        true,
        Has.fibers
      )
  case Mutex
      extends ScaleRow(
        "mutex",
        "mutex, contended",
        "an addition under one mutex; 4 fibers for each carrier",
        false,
        Has.fibers
      )
  case ParEvalMap0
      extends ScaleRow(
        "par-eval-map-0",
        "parEvalMap: ready",
        "an element whose effect is ready; 2 at a time for each carrier",
        false,
        Has.streams + "virtual-threads"
      )
  case ParEvalMap1
      extends ScaleRow(
        "par-eval-map-1",
        "parEvalMap: 1 µs of work",
        "an element whose effect computes for 1 µs; 2 at a time for each carrier",
        true,
        Has.parallelMaps
      )
  case ParEvalMap10
      extends ScaleRow(
        "par-eval-map-10",
        "parEvalMap: 10 µs of work",
        "an element whose effect computes for 10 µs; 2 at a time for each carrier",
        true,
        Has.parallelMaps
      )
  case Merge
      extends ScaleRow(
        "merge",
        "merge",
        "an element whose effect computes for 1 µs, of a stream for each carrier, two at least",
        true,
        Has.streams
      )
  case ParJoin
      extends ScaleRow(
        "par-join",
        "parJoin",
        "an element whose effect is ready, of 16 streams that are joined",
        false,
        Has.streams
      )
  case Blocking
      extends ScaleRow(
        "blocking",
        "blocking bursts",
        "a call that blocks for 1 ms, of 2,000 at once",
        true,
        Has.fibers
      )
  case RunSync
      extends ScaleRow(
        "run-sync",
        "runSync from platform threads",
        "a call that waits for a task that yields once; a platform thread for each carrier",
        true,
        Has.forks
      )

  /** Without Cats Effect 3.7.1, which leaves some of that many fibers asleep, for minutes or for
    * ever: docs/measurements/sleepers.md.
    */
  case Sleeping
      extends ScaleRow(
        "sleeping",
        "sleeping fibers",
        "a fiber that is started, sleeps for 0.5 s beside 100,000 others, and ends",
        true,
        Has.fibers - "cats-effect"
      )

object ScaleRow:
  /** Returns the row with that id. **Fails** if there is none. */
  def of(id: String): ScaleRow =
    values
      .find(_.id == id)
      .getOrElse(
        throw IllegalArgumentException(
          s"there is no row '$id' of scale, only ${values.map(_.id).mkString(", ")}"
        )
      )

/** The systems of each row. They are not in `ScaleRow`'s companion, whose cases come before its
  * values.
  */
private object Has:
  /** The systems in which a fiber may wait for another one in the middle of its code. A
    * ForkJoinPool has tasks, which may join others, and timers. It has no queue, lock or yield that
    * keeps no thread.
    */
  val fibers = Set("weir", "virtual-threads", "cats-effect", "zio")
  val forks = fibers + "fork-join"
  val streams = Set("weir", "fs2", "zio", "pekko")

  /** Parallel streams of the JDK run in a ForkJoinPool; `Gatherers.mapConcurrent` runs each element
    * on a virtual thread.
    */
  val parallelMaps = streams + "virtual-threads" + "fork-join"
