package weir.cli.relay

import java.io.IOException
import java.nio.file.{Files, Path}

import weir.{Resource, Task}
import weir.cli.BadInput
import weir.cli.lab.LabModule
import weir.lab.KafkaBroker

/** A Kafka of the program's own, in a JVM of its own. All relays share it, and it ends with the
  * last of them, however that ends. Its data stays.
  */
object LocalBroker:
  private val module = LabModule("broker", "weir.broker.BrokerProgram")

  /** **Waits** some seconds where there is none yet; `starts` is called first. **Fails** with
    * [[BadInput]] if it does not start.
    */
  def resource(starts: () => Unit): Resource[KafkaBroker] =
    Resource.makeFull(poll => poll(Task.delay(start(starts))))((broker, _) =>
      Task.delay(close(broker))
    )

  /** The last one waits until its files are closed. */
  private def close(broker: KafkaBroker): Unit =
    broker.close()
    broker.awaitEnd(1): Unit

  private def start(starts: () => Unit): KafkaBroker =
    try
      val data = Files.createDirectories(folder).resolve("broker")
      if !Files.exists(data.resolve("broker")) then starts()
      KafkaBroker.in(data, module.classPath, KafkaBroker.usualFlags ++ module.flags)
    catch
      case error: IOException =>
        throw BadInput("weir relay", s"${error.getMessage}.", "Give --brokers instead.")

  private def folder: Path =
    Path.of(sys.props.getOrElse("weir.relay", s"${sys.props.getOrElse("weir.lab", ".weir")}/relay"))
