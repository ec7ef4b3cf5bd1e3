package weir.io

import java.io.{IOException, InputStream}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import scala.jdk.CollectionConverters.IteratorHasAsScala
import weir.stream.{BlockSource, ByteInput}
import weir.{Outcome, Resource, Stream, Task}

/** Runs programs as separate processes. */
object Command:

  /** Starts the program `words(0)` with the other words as its arguments, without a shell. It
    * starts when the resource is acquired. If it still runs at the release, it is ended together
    * with the processes that it has started: they are asked to end, and killed after five seconds.
    * A process that it starts at the same moment may survive.
    *
    * **Fails** with an `IOException` if there is no such program.
    * {{{
    * val listing: Task[List[String]] = Command.run("ls", "-l").use(process =>
    *   Text.lines(Text.utf8Decode(process.output)).toList
    * )
    * }}}
    */
  def run(words: String*): Resource[Running] =
    require(words.nonEmpty, "Command.run: there were no words. Give at least one: the program.")
    runAs(ProcessBuilder(words*))

  /** As `run`, but with the directory, the environment and the redirects of `builder`. `grace` is
    * the time in which a process that is killed may end by itself.
    * {{{
    * val files: Task[List[String]] = Command
    *   .runAs(ProcessBuilder("git", "ls-files").directory(path.toFile))
    *   .use(process => process.output.through(Text.utf8Decode).through(Text.lines).toList)
    * }}}
    */
  def runAs(builder: => ProcessBuilder, grace: FiniteDuration = 5.seconds): Resource[Running] =
    Resource.make(Task(Running(builder.start(), grace)))(_.release)

  /** A process that was started. A program that writes much output waits until the output is read:
    * read `output` and `errors` at the same time, or redirect one of them.
    *
    * A pipe to a process is open for as long as any process holds its other end. That may be a
    * process that the program has left running, which no kill reaches. The JDK cannot end a read
    * that waits for such a pipe, or a write to a full one: a close leaves the read waiting, and
    * waits itself for the write. So a cancel abandons the call.
    */
  final class Running private[Command] (process: Process, grace: FiniteDuration):
    @volatile private var writeAbandoned = false
    @volatile private var hasRefusedInput = false

    /** Emits the bytes that the process writes to its standard output. They can be read once.
      *
      * **Waits** for the end of the process, and of all processes that it has left running with
      * that output. **Cancelled** while it waits for more: kills the process. **Fails** with an
      * `IOException`.
      * {{{
      * val first: Task[Option[String]] =
      *   Command.run("ls").use(_.output.through(Text.utf8Decode).through(Text.lines).head)
      * }}}
      */
    val output: Stream[Array[Byte]] = bytesOf(process.getInputStream)

    /** Emits the bytes that the process writes to its standard error, as `output`.
      * {{{
      * val both: Task[(List[String], List[String])] = Command.run("make").use { process =>
      *   def lines(bytes: Stream[Array[Byte]]) = bytes.through(Text.utf8Decode).through(Text.lines)
      *   lines(process.output).toList.both(lines(process.errors).toList)
      * }
      * }}}
      */
    val errors: Stream[Array[Byte]] = bytesOf(process.getErrorStream)

    /** Writes all of `blocks` to the standard input of the process, then closes it. **Waits** while
      * the process does not read. **Cancelled** meanwhile, or if `blocks` fails: kills the process,
      * which would mistake a part of the input for all of it. **Fails** with an `IOException` if
      * the process has ended, or has closed its input.
      * {{{
      * val sorted: Task[String] = Command.run("sort").use { process =>
      *   process
      *     .writeInput(Stream("b\n", "a\n").through(Text.utf8Encode))
      *     .both(process.output.through(Text.utf8Decode).mkString())
      *     .map(_._2)
      * }
      * }}}
      */
    def writeInput(blocks: Stream[Array[Byte]]): Task[Unit] =
      val input = process.getOutputStream
      def write(block: Array[Byte]) = Task.uncancelable(poll =>
        Task
          .abandonable(poll) { input.write(block); input.flush() }(_ => ())
          .onCancel(Task { writeAbandoned = true })
          .onError { case _ => Task { hasRefusedInput = true } }
      )
      blocks.evalMap(write).drain.guaranteeCase {
        case Outcome.Succeeded(_) => closeInput
        case Outcome.Failed(_) if hasRefusedInput => closeInput
        case _ => kill.guarantee(closeInput.handleError(_ => ()))
      }

    /** Returns the exit code of the process. **Waits** until the process has ended. **Cancelled**
      * meanwhile: the process continues.
      * {{{
      * val isClean: Task[Boolean] =
      *   Command.run("git", "diff", "--quiet").use(_.exitCode).map(_ == 0)
      * }}}
      */
    val exitCode: Task[Int] = Task(process.waitFor())

    /** Ends the process and the processes that it has started.
      * {{{
      * val stopped: Task[Int] =
      *   Command.run("sleep", "60").use(process => process.kill >> process.exitCode)
      * }}}
      */
    val kill: Task[Unit] = Task.uninterruptible {
      if process.isAlive then
        // by handles: `Process.destroy` waits for a write to the process, which waits for the
        // process
        val own = process.toHandle
        val others = process.descendants.iterator.asScala.toList
        (own :: others).foreach(_.destroy(): Unit)
        if !process.waitFor(grace.toNanos, TimeUnit.NANOSECONDS) then
          own.destroyForcibly(): Unit
          process.waitFor(): Unit
        others.foreach(_.destroyForcibly(): Unit)
    }

    private def bytesOf(input: InputStream): Stream[Array[Byte]] =
      BlockSource.stream(ByteInput.ofProcess(input, kill), 65536)

    /** Closes the standard input. Does not wait for a write that was abandoned; the JDK closes the
      * input after that.
      */
    private def closeInput: Task[Unit] = Task.defer {
      if writeAbandoned then
        Task.onPlatformThread(process.getOutputStream.close()).attempt.start.void
      else Task(process.getOutputStream.close())
    }

    /** Kills the process and closes its pipes. Does not wait for the output of processes that this
      * one has left running.
      */
    private[Command] def release: Task[Unit] = kill
      .guarantee(closeInput.handleError(_ => ())) // closes what was not written
      .guarantee(Task {
        for closed <- List(process.getInputStream, process.getErrorStream) do
          try closed.close()
          catch case _: IOException => ()
      })
