package weir.kafka.broker

import weir.Task

/** A process that uses a broker until it is killed, and writes the number of the broker's process.
  */
object BrokerUser:
  def main(arguments: Array[String]): Unit = KafkaBroker
    .resource(BrokerSettings(classPath = arguments.headOption))
    .use(broker => Task(println(broker.pid)).andThen(Task.never))
    .runSync()
