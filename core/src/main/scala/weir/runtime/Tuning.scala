package weir.runtime

/** Every constant of the runtime, with the benchmark that chose it (`./weir bench NAME`), or with
  * the reason if no benchmark did.
  */
private[weir] object Tuning:

  // ---- slices ----

  /** The number of instructions that a fiber runs before it yields to queued work: 1,024 take 3 to
    * 30 µs, so the cost of yielding is negligible, and a fiber that loops delays no other for long.
    * `FlatMapLoop`, `Yields`.
    */
  inline val sliceInstructions = 1024

  /** The time after which a slice ends although it has instructions left, because its thunks
    * compute: 200 µs. `SequenceReady`.
    */
  inline val sliceNanos = 200_000L

  /** The number of instructions between two looks at the clock in a slice. `SequenceReady`. */
  inline val clockInstructions = 64

  /** If `clockInstructions` take less than this, 10 µs, the slice gets the rest of its instructions
    * without another look at the clock. `SequenceReady`.
    */
  inline val fastNanos = 10_000L

  /** The number of hand-overs of a thread in a row before the queue has its turn. Not measured. */
  inline val handOversInARow = 16

  /** The number of slices of a worker between two looks at the clock. Not measured: a look costs
    * tens of nanoseconds, a slice more.
    */
  inline val slicesPerClock = 32

  /** The number of cedes with nothing queued between two looks at the clock, each of which costs as
    * much as eight cedes. `SequenceForked`.
    */
  inline val cedesPerClock = 8

  // ---- shards ----

  /** The number of cells of a shard's ring. Jobs beyond that go to the overflow queue, a linked
    * queue. `Fork`.
    */
  inline val ringCapacity = 1024

  /** One poll of a worker in this many is a fairness poll, as in the schedulers of Go and Tokio. It
    * is a prime, so that it falls into step with no pattern of the jobs.
    */
  inline val fairnessEvery = 61

  /** The largest number of jobs that a worker moves at once from another shard to its own.
    * `Yields`.
    */
  inline val stealJobs = 64

  /** The largest number of jobs that a worker moves at once from the overflow queue to its shard.
    * `Fork`.
    */
  inline val overflowJobs = 16

  // ---- workers ----

  /** The time for which a worker holds its carrier before it yields to the JDK's scheduler: 1 ms.
    * Not measured: `FairnessSuite` allows timers 50 ms.
    */
  inline val yieldAfterNanos = 1_000_000L

  /** One yield in this many is a short park, which comes back by the JDK's common queue: see
    * `ExecutionThread.yieldIfDue`. Not measured.
    */
  inline val yieldsPerPark = 8

  /** The number of rounds that the standby searches for work before it parks, and the pause in
    * each: 20 µs in all. If it were shorter, every wake-up of a fiber by another one would also
    * wake a worker; if it were longer, the standby would waste processor time. Not measured; by the
    * clock since decision 0012.
    */
  inline val searchRounds = 16
  inline val searchNanos = 1_250L

  /** The time for which the standby leaves the only queued job to the active workers: 2 µs. This is
    * ten times the time that a fiber which wakes another one needs until it waits itself.
    * `DeferredPingPong`, `ForkJoin`.
    */
  inline val leaveNanos = 2_000L

  /** The number of short rests in a row of a standby that finds no slot, and the length of the
    * rests after them: 200 µs. Not measured: `WorkerSuite` shows that such a standby occupies no
    * carrier.
    */
  inline val shortRests = 4
  inline val longRestNanos = 200_000L

  /** The number of idle workers that are kept for each carrier; further ones end. Not measured. */
  inline val idleWorkersPerCarrier = 4

  // ---- runSync and platform threads ----

  /** The number of calls of `runSync` that may be nested on one thread's stack. Not measured: each
    * takes about 1 KB of it, and the user's own frames.
    */
  inline val nestedCalls = 32

  /** The number of small frames that must fit onto the stack before a nested `runSync` begins: some
    * kilobytes, as much as the interpreter and the JDK below it need before anything is compiled.
    * `StackEdgeSuite` loses finalizers without them.
    */
  inline val callerStackFrames = 512

  /** The number of calling threads of `runSync` that the watch and a dump can see at once. Of two
    * with the same index, one is hidden. A power of two.
    */
  inline val callers = 64

  /** The time for which a platform thread waits for the next call: 1 s. A call that finds a waiting
    * thread takes a third to a tenth of the time of a call that starts one. `PlatformThread`.
    */
  inline val platformKeepAliveNanos = 1_000_000_000L

  // ---- timer and watch ----

  /** The largest number of alarms that the timer's thread takes out of the heap before it rings
    * them. `weir sleepers`.
    */
  inline val alarmsAtOnce = 32

  /** The time for which a thread waits for a shard of the timer whose lock it has found held so
    * often that the holder must have lost its core: 50 µs. Not measured.
    */
  inline val alarmLockNanos = 50_000L

  /** The time for which the timer's thread stays without any alarm, and the watch's without any
    * execution thread: 5 s. Not measured.
    */
  inline val timerKeepAliveNanos = 5_000_000_000L

  /** The interval of the watch's looks while there is progress: 20 ms, which is also the grain of
    * its clock. Not measured.
    */
  inline val lookNanos = 20_000_000L

  /** The number of looks without progress after which the watch gets slow. */
  inline val idleLooks = 25

  /** The interval of the watch's looks when it is slow, since all threads are blocked or reported:
    * 1 s.
    */
  inline val slowLookNanos = 1_000_000_000L

  /** The time that a slice computes before it is reported as a spin: 200 ms. */
  inline val spinNanos = 200_000_000L

  /** The time after a failed start of a thread before another start is tried: 1 s. */
  inline val threadRetryNanos = 1_000_000_000L

  // ---- groups of children ----

  /** The time for which the first runner of a group waits for the others before it leaves its
    * thread: 2 µs, as long as the largest block of ready children takes. Moving the parent to
    * another carrier, or waking a calling thread, would cost more. `GatherReady`.
    */
  inline val spinWaitNanos = 2_000L

  /** The time for which the standby leaves a group to the runner that makes progress by itself: 24
    * times 4 µs. It reads the group's counters once in 4 µs, since each read slows the runner down,
    * and the queues four times as often. `GatherReady`.
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
    * Waking a worker takes up to half of it. Not measured.
    */
  inline val shortGroupNanos = 200_000L

  /** The time that a group saves by delaying a needless helper request: 30 µs. `GatherReady`. */
  inline val savedNanos = 30_000L

  /** The interval at which the thread of `HelperRequests` looks at delayed requests: 1 ms. A child
    * that blocks at a call site where none did before delays the others for that long, or for twice
    * that if it computes. This happens once in as many groups as have saved that time.
    */
  inline val helperRequestNanos = 1_000_000L

  /** The number of looks in a row that find nothing before the thread of `HelperRequests` ends: 1 s
    * in all.
    */
  inline val helperRequestLooks = 1000

  /** The number of groups that can delay their helper requests at once: more than run on the
    * carriers of most machines. A power of two.
    */
  inline val helperRequestSlots = 32

  // ---- streams ----

  /** The largest number of elements of a collection that a subscriber's `request` signals on its
    * own thread. Further requested elements are left to a fiber, so that the call returns soon. It
    * is as large as the largest buffer that other libraries request at once. `StreamFlow`.
    */
  inline val elementsOfRequest = 256

  // ---- effects of streams ----

  /** An effect of `parEvalMap` that takes less than this, 300 ns with its element, is run by the
    * consumer itself: handing it over takes as long. `StreamPar`, `StreamParWork`.
    */
  inline val shortEffectNanos = 300L

  /** The number of ready effects in a row that must be that short, on average, before the consumer
    * runs the next ones. Each time that this was wrong, twice as many such stretches are needed, up
    * to a limit.
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

  /** The pause of a thread that has lost a race for a lock or a Ref: 0.5 µs the first time, 4 µs at
    * most. If it were shorter, two carriers would take each other's cache lines all the time; if it
    * were longer, one of them would wait for nothing. `RefContention`, `QueueEightToEight`.
    */
  inline val backoffFirstNanos = 500L
  inline val backoffMostNanos = 4_000L

  /** The number of times that a thread finds a lock held before it yields, since the holder must
    * have lost its core: about 50 µs. Not measured.
    */
  inline val lockTriesPerYield = 16
