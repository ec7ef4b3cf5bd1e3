package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord

/** A member with many partitions, whose records would not fit into its memory. */
class MemorySuite extends KafkaSuite:
  private val partitions = 1000
  private val ofEach = 300

  // Not in the short tier: a broker needs a while for as many partitions.
  if Tier.isLong then
    for protocol <- GroupProtocol.values do
      test(s"$protocol: 300 MB of records in $partitions partitions are read within 256 MB"):
        val (topic, group) = (TestBroker.topic(partitions), TestBroker.name("group"))
        val value = "x" * 1000
        for n <- 0 until ofEach do
          TestBroker.write(
            (0 until partitions).map(partition => ProducerRecord(topic, partition, s"k$n", value))
          )
        val workers = Workers("usual", protocol, group, topic, memory = "256m")
        try
          val worker = workers.start()
          eventually(s"all is committed. ${workers.failures}"):
            !worker.isAlive || TestBroker.committedCount(group, topic) == partitions * ofEach
          assert(worker.isAlive, workers.failures)
        finally workers.close()
