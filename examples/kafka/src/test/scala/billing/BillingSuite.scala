package billing

import scala.concurrent.duration.*
import weir.Task
import weir.kafka.broker.{BrokerSettings, KafkaBroker}

class BillingSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 3.minutes

  test("each order is billed, by a real broker"):
    val settings = BrokerSettings(topics = Map("orders" -> 4, "bills" -> 1))
    val found = KafkaBroker
      .resource(settings)
      .use { broker =>
        val billing = Billing(broker.address)
        val orders = Task.foreach(List("alice", "bob", "carol"))(billing.order(_, "3 apples"))
        val bills = billing.bills.take(3).toVector
        orders.andThen(Task.race(bills, billing.run.drain)).map(_.merge)
      }
      .runSync()
    assertEquals(found, Vector.fill(3)("to pay: 3 apples"))

  test("the broker's own jars are not on the class path"):
    assert(!sys.props("java.class.path").contains("kafka_2.13"))
