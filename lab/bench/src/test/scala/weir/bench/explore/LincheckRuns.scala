package weir.bench.explore

import java.io.File
import java.util.concurrent.{CompletableFuture, TimeUnit}
import org.jetbrains.lincheck.Lincheck
import weir.testkit.bugs.{KnownBug, KnownBugs}

/** Has Lincheck look for a known bug that is plain code, as its pages recommend: by
  * `runConcurrentTest` with its default number of schedules.
  *
  * Each look has a JVM of its own, since both tools rewrite the classes of the JDK, and since a
  * look that takes too long cannot be stopped from inside.
  */
object LincheckRuns:
  /** A bug that was found: after how many milliseconds, and how many lines its story has. */
  final case class Found(millis: Long, lines: Int)

  /** Looks for the bug of this name. The limit begins when Lincheck has rewritten the classes of
    * the JDK. Returns `None` if Lincheck does not find the bug, or not in time.
    */
  def look(name: String, limitSeconds: Int): Option[Found] =
    val process = ProcessBuilder(
      File(sys.props("java.home"), "bin/java").toString,
      "-XX:+EnableDynamicAgentLoading",
      "-cp",
      sys.props("java.class.path"),
      getClass.getName.stripSuffix("$"),
      name
    ).redirectError(ProcessBuilder.Redirect.DISCARD).start()
    val lines = process.inputReader
    require(readUntil(lines, "begun").nonEmpty, s"Lincheck has not begun to look for: $name.")
    CompletableFuture
      .delayedExecutor(limitSeconds, TimeUnit.SECONDS)
      .execute(() => process.destroyForcibly(): Unit)
    val end = readUntil(lines, "end")
    process.waitFor(): Unit
    end.collect { case List(_, millis, lines) => Found(millis.toLong, lines.toInt) }

  /** Returns the fields of the first line that begins with this word, `None` if there is none. */
  private def readUntil(lines: java.io.BufferedReader, word: String): Option[List[String]] =
    Iterator
      .continually(lines.readLine())
      .takeWhile(_ != null)
      .map(_.split('\t').toList)
      .find(_.headOption.contains(word))

  // ---- in a JVM of its own ----

  def main(arguments: Array[String]): Unit =
    val bug = KnownBugs.all.find(_.name == arguments(0)).get
    find(() => nothing): Unit // starts Lincheck, which rewrites classes of the JDK
    println("begun")
    val start = System.nanoTime()
    val lines = find(bug.threads.get.wrong)
    val millis = (System.nanoTime() - start) / 1_000_000
    println(lines.fold("end")(count => s"end\t$millis\t$count"))
    Runtime.getRuntime.halt(0)

  private def nothing: KnownBug.Program = new KnownBug.Program:
    val threads: List[() => Unit] = List(() => (), () => ())
    def after(): Unit = ()

  /** Returns the lines of the story of the failure, without those of the detailed trace. */
  private def find(program: () => KnownBug.Program): Option[Int] =
    try
      Lincheck.runConcurrentTest(() => ThreadRuns.once(program()))
      None
    catch
      case error: Throwable =>
        val story = error.toString.linesIterator.takeWhile(!_.startsWith("Detailed trace"))
        Some(story.count(line => line.startsWith("|") && !line.startsWith("| --")))
