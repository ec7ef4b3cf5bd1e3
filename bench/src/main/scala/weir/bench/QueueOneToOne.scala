package weir.bench

/** What does it cost to pass 10,000 values through a bounded queue, from one fiber to another? */
class QueueOneToOne extends QueueScenario(pairs = 1)
