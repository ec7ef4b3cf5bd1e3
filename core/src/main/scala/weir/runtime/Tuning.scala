package weir.runtime

/** Every constant of the runtime, and the benchmark that chose it. */
private[weir] object Tuning:

  /** Instructions that a fiber runs before it gives way to queued work: 1,024 take 3 to 30 µs, so the cost of giving way
    * disappears and a fiber that loops holds nobody up. `FlatMapLoop`, `Yields`.
    */
  inline val sliceInstructions = 1024

  /** Where instructions take long, because thunks compute, a slice ends after this time: 200 µs. The clock is read after
    * each 64 instructions, unless 64 have taken less than 10 µs: then the rest of the slice is granted at once.
    * `SequenceReady`.
    */
  inline val sliceNanos = 200_000L
  inline val clockInstructions = 64
  inline val fastNanos = 10_000L

  /** Slots of a shard's ring. Beyond it jobs go to the inbox, a linked queue. `Fork`. */
  inline val ringCapacity = 1024

  /** A worker looks into the inbox or another shard first once in this many takes, so that a full shard of its own cannot hide
    * them.
    */
  inline val strayEvery = 61

  /** Hand-overs in a row before the queue has its turn. */
  inline val handOversInARow = 16

  /** Slices between two looks at the clock by a worker. */
  inline val slicesPerClock = 32

  /** Cedes with nothing queued between two looks at the clock, each of which costs as much as all of them. `SequenceForked`. */
  inline val cedesPerClock = 8

  /** How long a worker holds its carrier before it yields to the JDK's scheduler: 1 ms. */
  inline val yieldAfterNanos = 1_000_000L

  /** Rounds that the standby searches for work before it parks, and the pause in each: 20 µs in
    * all. Shorter and every hand-over between two fibers pays for a wake-up; longer and it burns CPU.
    */
  inline val searchRounds = 16
  inline val searchNanos = 1_250L

  /** How long the standby leaves the only job in the queues to those who run jobs: 2 µs, ten times what a fiber that wakes
    * another one needs until it waits itself. `DeferredPingPong`, `ForkJoin`.
    */
  inline val leaveNanos = 2_000L

  /** One yield in this many is a short park, which comes back by the JDK's common queue: see `Host.yieldIfDue`. */
  inline val yieldsPerPark = 8

  /** Rests of a standby that finds no slot, close after each other, before they get long. */
  inline val shortRests = 4
  inline val longRestNanos = 200_000L

  /** Idle workers kept for the next burst, for each carrier; the others end. */
  inline val idleWorkersPerCarrier = 4

  /** Calls of `runSync` nested on one thread's stack. Each takes about 1 KB of it, and the user's own frames. */
  inline val nestedCalls = 32

  /** Small frames that must fit onto the stack before a nested `runSync` begins: some kilobytes, as much as the run loop and the
    * JDK below it need where nothing is compiled yet. `StackEdgeSuite` loses finalizers without them.
    */
  inline val callerStackFrames = 512

  /** How long a platform thread waits for the next call: 1 s. A call that finds one takes a third to a tenth of
    * the time of a call that starts one. `PlatformThread`.
    */
  inline val platformKeepAliveNanos = 1_000_000_000L

  /** The most alarms that the timer's thread takes out of the heap before it rings them. `weir sleepers`. */
  inline val alarmsAtOnce = 32

  /** How long the timer's thread stays without any alarm: 5 s. */
  inline val timerKeepAliveNanos = 5_000_000_000L

  /** How often the watch looks while anything gets on: 20 ms, which is also the grain of its clock. */
  inline val lookNanos = 20_000_000L

  /** How often it looks where nothing has got on for `idleLooks` looks, since all is blocked or known to spin: 1 s. */
  inline val slowLookNanos = 1_000_000_000L
  inline val idleLooks = 25

  /** How long the system is not asked again for a thread that it did not have to give: 1 s. */
  inline val threadRetryNanos = 1_000_000_000L

  /** How long one slice is seen computing before it is called a spin: 200 ms. */
  inline val spinNanos = 200_000_000L

  /** Callers of `runSync` that the watch and a dump can see at once; two that share a place hide one of them. */
  inline val callers = 64

  /** How long the first runner of a group waits for the others before it leaves its thread: 2 µs, which is what the
    * largest block of ready children takes. A parent that moves to another carrier, or wakes a caller's thread, costs
    * more. `GatherReady`.
    */
  inline val lingerNanos = 2_000L

  /** How long the standby leaves a group to the runner that gets on fast by itself: 24 times 4 µs. It looks at the group's
    * counters once in 4 µs, since each look slows the runner down, and into the queues four times as often. `GatherReady`.
    */
  inline val watchRounds = 24
  inline val watchLooks = 4
  inline val watchNanos = 1_000L

  /** With fewer children than this claimed since the invitation, or the last look, the group is not getting on fast. `Blocking`. */
  inline val watchedClaims = 16

  /** After so many groups of a kind that have needed nobody, the next one puts its invitation off. `GatherReady`. */
  inline val needlessInvitations = 64

  /** A group whose children were all ready has needed nobody if it took less than this: 200 µs. To wake somebody takes up to half of
    * it.
    */
  inline val shortGroupNanos = 200_000L

  /** What a group saves that has put an invitation off for which there was no need: 30 µs. `GatherReady`. */
  inline val savedNanos = 30_000L

  /** How often the thread looks at invitations that were put off: 1 ms. So a child that blocks where none did before holds up the
    * others for that long, or twice that where it computes, once in as many groups as have saved it.
    */
  inline val invitationNanos = 1_000_000L

  /** Looks in a row at nothing before that thread ends: 1 s in all. */
  inline val invitationLooks = 1000

  /** How many groups can put their invitations off at once: more than run on the carriers of most machines. A power of two. */
  inline val invitationPlaces = 32

  /** The most jobs that a worker moves at once from another shard to its own. `Yields`. */
  inline val stealJobs = 64

  /** How long a carrier pauses that has lost a race for a lock or a Ref, the first time, and at most: 0.5 and 4 µs. Shorter, and
    * two carriers take each other's cache lines all the time; longer, and one of them waits for nothing. `RefContention`,
    * `QueueEightToEight`.
    */
  inline val backoffFirstNanos = 500L
  inline val backoffMostNanos = 4_000L

  /** How often a lock was found held when its holder must have lost its core, so that the thread gives way: about 50 µs. */
  inline val lockTriesPerYield = 16
