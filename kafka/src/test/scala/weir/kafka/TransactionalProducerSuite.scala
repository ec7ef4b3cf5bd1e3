package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import weir.Task

/** Tests transactions that consume nothing. */
class TransactionalProducerSuite extends KafkaSuite:
  private def opened(id: String) =
    TransactionalProducer.resource(TestBroker.producerSettings, id)

  test("a transaction writes all of its records or none"):
    val topic = TestBroker.topic(1)
    val id = TestBroker.name("id")
    def records(values: String*) = values.map(ProducerRecord(topic, "k", _))
    opened(id)
      .use { producer =>
        for
          _ <- producer.transaction(records("a", "b"))
          failed <- producer
            .transaction(records("c", "x".repeat(2_000_000)))
            .attempt
          _ <- Task.parTraverse(List("d", "e", "f"))(value => producer.transaction(records(value)))
          _ <- producer.transaction(Nil)
        yield
          val message = failed.left.map(_.getMessage)
          assert(message.left.exists(_.contains("does not take a record")), s"$failed")
      }
      .runSync()
    val written = TestBroker.readAll(topic).map(_._2)
    assertEquals(written.take(2), Vector("a", "b"))
    assertEquals(written.drop(2).sorted, Vector("d", "e", "f"))

  test("a second producer with the same id takes over, and the first one says so"):
    val topic = TestBroker.topic(1)
    val id = TestBroker.name("id")
    val record = List(ProducerRecord(topic, "k", "v"))
    opened(id)
      .use { first =>
        for
          _ <- first.transaction(record)
          _ <- opened(id).use(_.transaction(record))
          refused <- first.transaction(record).attempt
        yield assert(
          refused.left.exists(_.getMessage.contains("has the same transactional id")),
          s"$refused"
        )
      }
      .runSync()
    assertEquals(TestBroker.readAll(topic).size, 2)
