package weir.lab.compare

/** The times that it takes to produce a batch of tasks and to consume a task. */
enum Load(
    val name: String,
    val produceMillis: Int,
    val leastConsumeMillis: Int,
    val mostConsumeMillis: Int
):
  case SlowProducer extends Load("slow-producer", 1000, 10, 100)

  /** A hundred tasks take a hundred consumers as long, on average, as their producer. */
  case Balanced extends Load("balanced", 1005, 10, 2000)
  case SlowConsumer extends Load("slow-consumer", 10, 10, 1000)

object Load:
  def named(name: String): Option[Load] = values.find(_.name == name)
