package weir.bench

/** What does it cost when eight fibers offer 10,000 values each to a bounded queue, and eight take
  * them?
  */
class QueueEightToEight extends QueueScenario(pairs = 8)
