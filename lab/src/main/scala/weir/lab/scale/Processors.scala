package weir.lab.scale

import java.io.IOException
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.util.Try

/** The processors that this program may use, and how to start another one on some of them.
  *
  * @param order
  *   their numbers, one of each core before a second one of any
  * @param pin
  *   the command `taskset`, if it works here
  */
private[lab] final case class Processors(order: Vector[Int], pin: Option[String]):
  /** The words before a command that is to run on `count` processors: none if they cannot be
    * chosen, or there are no more than these.
    */
  def prefix(count: Int): Seq[String] =
    pin.toSeq.flatMap(Seq(_, "-c", order.take(count).mkString(",")))

  /** Returns the way in which the processors are chosen, as a sentence. */
  def said: String =
    if pin.nonEmpty then "Each JVM runs on as many processors as it has carriers, by taskset."
    else
      "The processors are not pinned: there is no taskset that works here, so a JVM may use more " +
        "of them than it has carriers."

private[lab] object Processors:
  /** Returns the processors of this machine. */
  def here(): Processors =
    val most = Runtime.getRuntime.availableProcessors
    val allowed = text(Path.of("/proc/self/status")).flatMap(allowedOf).getOrElse(Vector.empty)
    val order = if allowed.sizeIs < most then (0 until most).toVector else coresFirst(allowed)
    Processors(order, Option("taskset").filter(works(_, order.head)))

  /** Returns the numbers in the line `Cpus_allowed_list` of a process's status. */
  private[scale] def allowedOf(status: String): Option[Vector[Int]] =
    status.linesIterator
      .find(_.startsWith("Cpus_allowed_list:"))
      .flatMap(line => list(line.split(":", 2)(1)))

  /** Returns the numbers of a list such as `0-3,8,10-11`. */
  private[scale] def list(text: String): Option[Vector[Int]] =
    val parts = text.trim
      .split(',')
      .toVector
      .map: part =>
        part.split('-').map(_.trim.toIntOption) match
          case Array(Some(one)) => Some(Vector(one))
          case Array(Some(first), Some(last)) if first <= last => Some((first to last).toVector)
          case _ => None
    Option.when(parts.forall(_.nonEmpty))(parts.flatten.flatten)

  /** `processors`, with the first of each core before the second of any.
    *
    * @param siblingsOf
    *   the processors that are threads of the same core
    */
  private[scale] def coresFirst(
      processors: Vector[Int],
      siblingsOf: Int => Vector[Int] = siblings
  ): Vector[Int] =
    processors.sortBy: processor =>
      (siblingsOf(processor).filter(processors.contains).indexOf(processor), processor)

  private def siblings(processor: Int): Vector[Int] =
    val file = s"/sys/devices/system/cpu/cpu$processor/topology/thread_siblings_list"
    text(Path.of(file)).flatMap(list).getOrElse(Vector(processor))

  private def text(file: Path): Option[String] = Try(Files.readString(file)).toOption

  private def works(command: String, processor: Int): Boolean =
    try
      val process = ProcessBuilder(command, "-c", processor.toString, "true")
        .redirectErrorStream(true)
        .start()
      process.getInputStream.readAllBytes(): Unit
      process.waitFor(10, TimeUnit.SECONDS) && process.exitValue == 0
    catch case _: IOException => false
