package weir.cli.relay

import java.io.IOException
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import weir.{Resource, Task}
import weir.kafka.broker.{BrokerSettings, KafkaBroker}
import weir.program.{BadInput, DurationText, StagedJars}

/** A Kafka of the program's own, in a JVM of its own. All relays share it, and it ends with the
  * last of them, however that ends. Its data stays.
  */
object LocalBroker:
  /** The longest wait for an answer of a broker whose process runs: on a busy machine the answer
    * may take minutes. Nothing waits for a broker that has ended.
    */
  val limit: FiniteDuration = 10.minutes

  /** **Waits** some seconds where there is none yet, and tells `note` of it. **Fails** with
    * [[BadInput]] if it does not start.
    */
  def resource(note: String => Unit): Resource[KafkaBroker] =
    Resource.makeFull(poll => poll(Task.delay(start(note))))((broker, _) =>
      Task.delay(close(broker))
    )

  /** Returns true if the broker should be asked again after no answer for the time `waited`. */
  def isAwaited(broker: KafkaBroker, note: String => Unit)(waited: FiniteDuration): Boolean =
    val isGoingOn = broker.isAlive && waited < limit
    if isGoingOn then note(s"its broker has given no answer for ${DurationText.show(waited)}")
    isGoingOn

  /** The result of `work`. **Fails** as soon as the broker's process has ended: then `work` is
    * cancelled and left behind, since it may go on waiting for answers of the broker.
    */
  def whileRunning[A](broker: KafkaBroker)(work: Task[A]): Task[A] =
    Task.uncancelable: poll =>
      work.start.flatMap: fiber =>
        val ended = Task
          .delay(broker.isAlive)
          .delayBy(500.millis)
          .iterateUntil(isAlive => !isAlive)
          .andThen(fiber.cancel.startDaemon)
          .andThen(Task.fail(IOException(s"its broker has ended (see $log)")))
        poll(Task.race(fiber.joinOrFail, ended)).map(_.merge).onCancel(fiber.cancel)

  /** The last one waits until its files are closed. */
  private def close(broker: KafkaBroker): Unit =
    broker.close()
    broker.waitForExit(1.second): Unit

  private def start(note: String => Unit): KafkaBroker =
    try
      val data = Files.createDirectories(folder).resolve("broker")
      if !Files.exists(data.resolve("broker")) then note("a broker starts")
      KafkaBroker.in(
        data,
        BrokerSettings(
          jvmFlags = BrokerSettings.usualFlags ++ StagedJars.broker.flags,
          classPath = Some(StagedJars.broker.classPath)
        ),
        waiting = waited => note(s"a broker starts, for ${DurationText.show(waited)} so far")
      )
    catch
      case error: IOException =>
        throw BadInput("weir relay", s"${error.getMessage}.", "Give --brokers instead.")

  private def folder: Path =
    Path.of(sys.props.getOrElse("weir.relay", s"${sys.props.getOrElse("weir.lab", ".weir")}/relay"))

  private def log: Path = folder.resolve("broker.log")
