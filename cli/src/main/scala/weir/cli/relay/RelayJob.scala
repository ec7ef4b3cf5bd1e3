package weir.cli.relay

import java.io.PrintWriter
import java.nio.file.Path
import java.util.concurrent.ConcurrentSkipListSet
import java.util.concurrent.atomic.{AtomicLong, LongAdder}
import scala.concurrent.duration.*

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}

import weir.{Resource, Schedule, Stream, Task}
import weir.cli.purchases.{PurchaseBook, PurchaseService}
import weir.kafka.*
import weir.program.{Foreground, Result, Text}
import weir.program.report.RunReport

/** The whole of `weir relay`: finds or starts a broker, and does tasks until none are left. */
final class RelayJob(settings: RelayJob.Settings, out: PrintWriter, err: PrintWriter):
  import settings.*

  private val done = LongAdder()
  private val failed = LongAdder()
  private val partitions = ConcurrentSkipListSet[Int]()
  private val left = AtomicLong(-1)
  private val start = AtomicLong(System.nanoTime())

  /** Returns the exit code.
    *
    * **Fails** with [[weir.program.BadInput]] or `KafkaFailure` before any task is done.
    */
  def run(): Int =
    val work = brokers match
      case Some(theirs) => relay(theirs, Topics(theirs))
      case None =>
        LocalBroker.resource(note).use { own =>
          def topics = Topics(own.address, LocalBroker.isAwaited(own, note))
          LocalBroker.whileRunning(own)(relay(own.address, topics))
        }
    Foreground.run(work, stopTime = 5.seconds) match
      case Foreground.Ended.Done(_) =>
        say(summary("done"))
        RunReport.of("relay", 0, results).write(json)
        0
      case Foreground.Ended.Stopped(code, isClean) =>
        say(summary("stopped"))
        say("The same command goes on with the remaining tasks.")
        if !isClean then Runtime.getRuntime.halt(code)
        code

  private def relay(address: String, asked: => Topics): Task[Unit] =
    Resource.fromAutoCloseable(Task.delay(asked)).use { topics =>
      Task.direct {
        prepare(topics, address).await
        val ends = topics.ends(from)
        left.set(topics.left(group, ends))
        say(s"${Text.count(left.get, "task")} left in '$from' at $address, group '$group'")
        start.set(System.nanoTime())
        val isOver = Task
          .delay(left.updateAndGet(_ => topics.left(group, ends)))
          .delayBy(200.millis)
          .iterateUntil(_ == 0)
        val work = Resource
          .fromAutoCloseable(
            Task.delay(PurchaseService.start(new PurchaseBook(1), delay, port = 0))
          )
          .flatMap(service => Resource.fromAutoCloseable(Task.delay(Calls(service.url))))
          .use(calls => RelayProgress.beside(doing(address, calls), line, isOver, follows))
        if left.get > 0 || follows then work.await
      }
    }

  /** The topics, and tasks for the program's own broker where it has none left. */
  private def prepare(topics: Topics, address: String): Task[Unit] = Task.direct {
    if brokers.nonEmpty then
      for (option, name) <- List("--from" -> from, "--to" -> to, "--dead" -> dead) do
        topics.check(option, name)
    else
      topics.ensure(Seq(from, to, dead), RelayJob.partitions)
      if tasks > 0 && topics.left(group, topics.ends(from)) == 0 then
        val written = KafkaProducer.resource(writing(address)).use { producer =>
          Stream
            .range(0, tasks)
            .map(n => ProducerRecord(from, s"client-${n % 200}", s"/clients/${n + 1}/purchases"))
            .through(producer.sendAll(5000))
            .drain
        }
        written.await
        say(s"${Text.count(tasks, "task")} written to '$from'")
  }

  private def doing(address: String, calls: Calls): Stream[Any] =
    val reading = ConsumerSettings(
      address,
      () => StringDeserializer(),
      () => StringDeserializer(),
      protocol,
      // The other relays take over the tasks of a killed one after ten seconds, not after 45.
      properties = Option
        .when(protocol == GroupProtocol.Classic)("session.timeout.ms" -> "10000")
        .toMap,
      connectTimeout = connectTimeout
    )
    val backOff = Schedule.exponential(100.millis).capped(5.seconds)
    def result(record: CommittableRecord[String, String]) = calls
      .result(record.value)
      .map { text =>
        partitions.add(record.partition)
        done.increment()
        ProducerRecord(to, record.key, text)
      }
    if isExactlyOnce then
      val id = s"$group-${ProcessHandle.current.pid}-${System.currentTimeMillis}"
      ExactlyOnce(reading, writing(address), id)
        .run(Set(from), group, parallel, Attempts(attempts, backOff, Some(dead)))(record =>
          result(record).map(List(_)).onError { case _ => Task.delay(failed.increment()) }
        )
    else
      Stream.resource(KafkaProducer.resource(writing(address))).flatMap { producer =>
        KafkaConsumer(reading)
          .records(Set(from), group)
          .parEvalMapByKey(
            parallel,
            attempts = Attempts(attempts, backOff, Some(DeadLetters(producer, dead)))
          )(record =>
            result(record).flatMap(producer.send).onError { case _ =>
              Task.delay(failed.increment())
            }
          )
      }

  private def writing(address: String) =
    ProducerSettings(
      address,
      () => StringSerializer(),
      () => StringSerializer(),
      connectTimeout = connectTimeout,
      properties = Map("delivery.timeout.ms" -> s"${LocalBroker.limit.toMillis}")
        .filter(_ => brokers.isEmpty)
    )

  /** The program's own broker is there, but may be slow to answer on a busy machine. */
  private def connectTimeout = if brokers.isEmpty then LocalBroker.limit else 8.seconds

  private def line: String =
    val rest = if left.get < 0 then "" else s", ${Text.grouped(left.get)} left in the group"
    s"${Text.grouped(done.sum)} done here$rest"

  private def summary(how: String): String =
    val seconds = (System.nanoTime() - start.get) / 1e9
    val of =
      if partitions.isEmpty then ""
      else partitions.toArray.mkString(" of the partitions ", ", ", "")
    val failures = if failed.sum == 0 then "" else s", ${Text.grouped(failed.sum)} attempts failed"
    s"$how: ${Text.count(done.sum, "task")}$of in ${Text.decimal(seconds, 1)} s$failures"

  private def results: Seq[Result] =
    val seconds = (System.nanoTime() - start.get) / 1e9
    Seq(
      Result("relay: tasks done", "weir", done.sum.toDouble, "tasks", Result.higher),
      Result("relay: attempts failed", "weir", failed.sum.toDouble, "attempts", Result.lower),
      Result("relay: time", "weir", seconds * 1000, "ms", Result.lower)
    )

  private def say(text: String): Unit =
    out.println(text)
    out.flush()

  private def note(text: String): Unit =
    err.println(s"weir relay: $text…")
    err.flush()

object RelayJob:
  /** Of the topics that it creates itself. */
  val partitions = 8

  /** @param brokers
    *   none for a broker of the program's own
    * @param tasks
    *   the number of tasks to write there first
    */
  final case class Settings(
      brokers: Option[String],
      from: String,
      to: String,
      dead: String,
      group: String,
      protocol: GroupProtocol,
      parallel: Int,
      attempts: Int,
      isExactlyOnce: Boolean,
      follows: Boolean,
      tasks: Int,
      delay: FiniteDuration,
      json: Option[Path]
  )
