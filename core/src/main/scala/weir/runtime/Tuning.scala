package weir.runtime

/** Every constant of the runtime, with the benchmark that chose it (`./weir bench NAME`), or with
  * the reason if no benchmark did.
  */
private[weir] object Tuning:

  // ---- slices ----

  /** Instructions that a fiber runs before it yields to queued work: 1,024 take 3 to 30 µs, so the
    * cost of yielding disappears, and a fiber that loops delays no other for long. `FlatMapLoop`,
    * `Yields`.
    */
  inline val sliceInstructions = 1024

  /** The time after which a slice ends whose instructions are slow, because thunks compute: 200 µs.
    * `SequenceReady`.
    */
  inline val sliceNanos = 200_000L

  /** Instructions between two looks at the clock in a slice. `SequenceReady`. */
  inline val clockInstructions = 64

  /** If `clockInstructions` take less than this, 10 µs, the slice gets the rest of its instructions
    * without another look at the clock. `SequenceReady`.
    */
  inline val fastNanos = 10_000L

  /** Hand-overs of a thread in a row before the queue has its turn. Not measured. */
  inline val handOversInARow = 16

  /** Slices of a worker between two looks at the clock. Not measured: a look costs tens of
    * nanoseconds, a slice more.
    */
  inline val slicesPerClock = 32

  /** Cedes with nothing queued between two looks at the clock, each of which costs as much as eight
    * cedes. `SequenceForked`.
    */
  inline val cedesPerClock = 8

  // ---- shards ----

  /** Cells of a shard's ring. Jobs beyond that go to the overflow queue, a linked queue. `Fork`. */
  inline val ringCapacity = 1024

  /** One poll of a worker in this many is a fairness poll. As in the schedulers of Go and Tokio; a
    * prime, so that it keeps step with no pattern of the jobs.
    */
  inline val fairnessEvery = 61

  /** The most jobs that a worker moves at once from another shard to its own. `Yields`. */
  inline val stealJobs = 64

  /** The most jobs that a worker moves at once from the overflow queue to its shard. `Fork`. */
  inline val overflowJobs = 16

  // ---- workers ----

  /** How long a worker holds its carrier before it yields to the JDK's scheduler: 1 ms. Not
    * measured: `FairnessSuite` allows timers 50 ms.
    */
  inline val yieldAfterNanos = 1_000_000L

  /** One yield in this many is a short park, which comes back by the JDK's common queue: see
    * `ExecutionThread.yieldIfDue`. Not measured.
    */
  inline val yieldsPerPark = 8

  /** Rounds that the standby searches for work before it parks, and the pause in each: 20 µs in
    * all. Shorter, and every wake-up of a fiber by another one also wakes a worker; longer, and the
    * standby burns CPU. Not measured; by the clock since decision 0012.
    */
  inline val searchRounds = 16
  inline val searchNanos = 1_250L

  /** For how long the standby leaves the only queued job to the active workers: 2 µs, ten times
    * what a fiber that wakes another one needs until it waits itself. `DeferredPingPong`,
    * `ForkJoin`.
    */
  inline val leaveNanos = 2_000L

  /** Short rests of a standby that finds no slot, in a row, before they get long, and how long they
    * are then: 200 µs. Not measured: `WorkerSuite` shows that such a standby burns no carrier.
    */
  inline val shortRests = 4
  inline val longRestNanos = 200_000L

  /** Idle workers kept for each carrier; further ones end. Not measured. */
  inline val idleWorkersPerCarrier = 4

  // ---- runSync and platform threads ----

  /** Calls of `runSync` that may be nested on one thread's stack. Not measured: each takes about 1
    * KB of it, and the user's own frames.
    */
  inline val nestedCalls = 32

  /** Small frames that must fit onto the stack before a nested `runSync` begins: some kilobytes, as
    * much as the interpreter and the JDK below it need before anything is compiled.
    * `StackEdgeSuite` loses finalizers without them.
    */
  inline val callerStackFrames = 512

  /** How many calling threads of `runSync` the watch and a dump can see at once. Of two with the
    * same index one is hidden. A power of two.
    */
  inline val callers = 64

  /** How long a platform thread waits for the next call: 1 s. A call that finds a waiting thread
    * takes a third to a tenth of the time of a call that starts one. `PlatformThread`.
    */
  inline val platformKeepAliveNanos = 1_000_000_000L

  // ---- timer and watch ----

  /** The most alarms that the timer's thread takes out of the heap before it rings them.
    * `weir sleepers`.
    */
  inline val alarmsAtOnce = 32

  /** How long a thread waits for a shard of the timer whose lock it has found held so often that
    * the holder must have lost its core: 50 µs. Not measured.
    */
  inline val alarmLockNanos = 50_000L

  /** How long the timer's thread stays without any alarm, and the watch's without any execution
    * thread: 5 s. Not measured.
    */
  inline val timerKeepAliveNanos = 5_000_000_000L

  /** How often the watch looks while there is progress: 20 ms, which is also the grain of its
    * clock. Not measured.
    */
  inline val lookNanos = 20_000_000L

  /** Looks without progress after which the watch gets slow. */
  inline val idleLooks = 25

  /** How often the watch looks when it is slow, since all threads are blocked or reported: 1 s. */
  inline val slowLookNanos = 1_000_000_000L

  /** How long a slice computes before it is reported as a spin: 200 ms. */
  inline val spinNanos = 200_000_000L

  /** How long after a failed start of a thread another start is tried: 1 s. */
  inline val threadRetryNanos = 1_000_000_000L

  // ---- groups of children ----

  /** How long the first runner of a group waits for the others before it leaves its thread: 2 µs,
    * as long as the largest block of ready children takes. A parent that moves to another carrier,
    * or wakes a calling thread, costs more. `GatherReady`.
    */
  inline val spinWaitNanos = 2_000L

  /** How long the standby leaves a group to the runner that makes progress by itself: 24 times 4
    * µs. It reads the group's counters once in 4 µs, since each read slows the runner down, and the
    * queues four times as often. `GatherReady`.
    */
  inline val watchRounds = 24
  inline val watchLooks = 4
  inline val watchNanos = 1_000L

  /** If fewer children than this were taken since the helper request, or since the last look, the
    * group is slow, and a helper is needed. `Blocking`.
    */
  inline val watchedGroup = 16

  /** After so many groups of one call site that have needed no helper, the next one delays its
    * helper request. `GatherReady`.
    */
  inline val needlessHelperRequests = 64

  /** A group whose children were all ready has needed no helper if it took less than this: 200 µs.
    * To wake a worker takes up to half of it. Not measured.
    */
  inline val shortGroupNanos = 200_000L

  /** What a group saves that has delayed a needless helper request: 30 µs. `GatherReady`. */
  inline val savedNanos = 30_000L

  /** How often the thread of `HelperRequests` looks at delayed requests: 1 ms. A child that blocks
    * where none did before delays the others for that long, or for twice that if it computes; once
    * in as many groups as have saved that time.
    */
  inline val helperRequestNanos = 1_000_000L

  /** Looks in a row at nothing before the thread of `HelperRequests` ends: 1 s in all. */
  inline val helperRequestLooks = 1000

  /** How many groups can delay their helper requests at once: more than run on the carriers of most
    * machines. A power of two.
    */
  inline val helperRequestSlots = 32

  // ---- streams ----

  /** The most elements of a collection that a subscriber's `request` signals on its own thread;
    * what is requested beyond that is left to a fiber, so that the call returns soon. As many as
    * the largest buffer that other libraries request at once. `StreamFlow`.
    */
  inline val elementsOfRequest = 256

  // ---- effects of streams ----

  /** An effect of `parEvalMap` that takes less than this, 300 ns with its element, is run by the
    * consumer itself: to hand it over takes as long. `StreamPar`, `StreamParWork`.
    */
  inline val shortEffectNanos = 300L

  /** How many ready effects in a row must be that short, on average, before the consumer runs the
    * next ones; twice as many stretches of them each time that this was wrong, up to a limit.
    */
  inline val effectStretch = 32
  inline val mostStretches = 1024

  /** After so many effects in the consumer's loop, one stretch is enough again. Not measured. */
  inline val longRunInPlace = 4096L

  /** Of so many effects in the consumer's loop, the time of one is measured. A power of two.
    * `StreamPar`.
    */
  inline val effectsPerClock = 16

  // ---- locks ----

  /** How long a thread pauses that has lost a race for a lock or a Ref, the first time, and at
    * most: 0.5 and 4 µs. Shorter, and two carriers take each other's cache lines all the time;
    * longer, and one of them waits for nothing. `RefContention`, `QueueEightToEight`.
    */
  inline val backoffFirstNanos = 500L
  inline val backoffMostNanos = 4_000L

  /** How often a thread finds a lock held before it yields, since the holder must have lost its
    * core: about 50 µs. Not measured.
    */
  inline val lockTriesPerYield = 16
