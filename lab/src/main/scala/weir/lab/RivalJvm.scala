package weir.lab

import java.io.{BufferedReader, InputStream, InputStreamReader, PrintWriter}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*

import weir.lab.ChildOutput.Message
import weir.program.{DurationText, StagedJars, Systems}

/** A JVM of its own in which one system runs one experiment.
  *
  * It never outlives this program: it is killed at the deadline, on an error here, and when this
  * program ends in any orderly way; and it ends by itself when the other end of its standard input
  * closes, which even a kill of this program does.
  *
  * @param options
  *   the arguments `key=value`, which the experiment knows
  * @param prefix
  *   a command that becomes the one after it, such as `taskset`
  */
final case class RivalJvm(
    experiment: String,
    system: String,
    options: Seq[(String, Any)] = Nil,
    jvmFlags: Seq[String] = Nil,
    deadline: FiniteDuration = 5.minutes,
    prefix: Seq[String] = Nil
):
  /** Runs the JVM, and returns true if it ended with exit code 0 and reported no failure. Otherwise
    * figures are missing, and a line on `err` says why.
    *
    * Output that is no message goes to `err`. **Waits** for its end; `onMessage` is called on this
    * thread.
    */
  def run(err: PrintWriter)(onMessage: Message => Unit): Boolean =
    val process = Children.start(ProcessBuilder(command*))
    try
      val isLate = AtomicBoolean()
      // A thread of its own: on the common pool it might wait behind something that blocks.
      val _ = Thread
        .ofPlatform()
        .daemon()
        .start: () =>
          if !process.waitFor(deadline.toMillis, TimeUnit.MILLISECONDS) then
            isLate.set(true)
            Children.kill(process)
      val errorReader = Thread.ofPlatform().start(() => lines(process.getErrorStream)(passOn(err)))
      val failures = messages(process, err, onMessage)
      errorReader.join()
      val exitCode = process.waitFor()
      val problems =
        if isLate.get then Seq(s"it took longer than ${DurationText.show(deadline)}")
        else if failures.isEmpty && exitCode != 0 then Seq(s"its JVM ended with code $exitCode")
        else failures
      problems.foreach(why => err.println(s"$system, $experiment: ${RivalJvm.noResult}$why"))
      problems.isEmpty
    finally Children.end(process)

  private def command: Seq[String] =
    (prefix :+ Children.java) ++ RivalJvm.usualFlags ++ startFlags ++ jvmFlags ++
      Seq("-cp", module.classPath, module.mainClass, experiment, system) ++
      options.map((key, value) => s"$key=$value")

  /** None where the experiment chooses a collector: they may name one, too, and a JVM takes one. */
  private def startFlags: Seq[String] =
    if jvmFlags.exists(_.endsWith("GC")) then Nil else module.flags

  private def module: StagedJars =
    if Systems.onCatsEffect2(system) then StagedJars.benchCe2 else StagedJars.bench

  /** Returns the texts of the failures among the messages. */
  private def messages(
      process: Process,
      err: PrintWriter,
      onMessage: Message => Unit
  ): Seq[String] =
    val failures = Seq.newBuilder[String]
    lines(process.getInputStream): line =>
      ChildOutput.parse(line) match
        case Some(message) =>
          onMessage(message)
          message match
            case Message.Failed(name, _, why) => failures += s"in '$name': $why"
            case _ => ()
        case None => passOn(err)(line)
    failures.result()

  private def passOn(err: PrintWriter)(line: String): Unit = err.println(s"$system: $line")

  private def lines(input: InputStream)(use: String => Unit): Unit =
    val reader = BufferedReader(InputStreamReader(input))
    Iterator.continually(reader.readLine()).takeWhile(_ != null).foreach(use)

object RivalJvm:
  /** Stands in each line that says why figures are missing. */
  private[lab] val noResult = "no result, since "

  /** Libraries built with an older Scala use sun.misc.Unsafe, which JDK 25 warns about. */
  private[lab] val usualFlags =
    Seq("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")
