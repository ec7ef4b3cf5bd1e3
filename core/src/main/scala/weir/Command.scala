package weir

import java.io.{IOException, InputStream}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import scala.jdk.CollectionConverters.IteratorHasAsScala
import weir.stream.{BlockSource, ByteInput}

/** Programs that run as processes of their own. */
object Command:

  /** The program `words(0)` with the arguments after it; no shell is between. Begun when it is
    * acquired, and killed at the release if it still runs, with the processes that it has begun:
    * asked to end, and after five seconds made to. One that it begins at that very moment may stay.
    *
    * **Fails** with an `IOException` if there is no such program.
    * {{{
    * val listing: Task[List[String]] = Command.run("ls", "-l").use(process =>
    *   Text.lines(Text.utf8Decode(process.output)).toList
    * )
    * }}}
    */
  def run(words: String*): Resource[Running] =
    require(words.nonEmpty, "Command.run: there was no word. The first must be the program.")
    runAs(ProcessBuilder(words*))

  /** As `run`, with the directory, the environment and the redirects of `builder`; `grace` is how
    * long a process that is killed has to end by itself.
    * {{{
    * val files: Task[List[String]] = Command
    *   .runAs(ProcessBuilder("git", "ls-files").directory(path.toFile))
    *   .use(process => process.output.through(Text.utf8Decode).through(Text.lines).toList)
    * }}}
    */
  def runAs(builder: => ProcessBuilder, grace: FiniteDuration = 5.seconds): Resource[Running] =
    Resource.make(Task(Running(builder.start(), grace)))(_.release)

  /** A process that was begun. A program that writes much waits until that is read: read `output`
    * and `errors` at the same time, or redirect one of them.
    *
    * A pipe to a process is open for as long as any process holds its other end. That may be one
    * that the program has left running at its end, which no kill reaches. The JDK cannot end a read
    * that waits for such a pipe, or a write to one that is full: a close leaves the read waiting,
    * and waits itself for the write. So a cancel abandons the call.
    */
  final class Running private[Command] (process: Process, grace: FiniteDuration):
    @volatile private var writeAbandoned = false
    @volatile private var hasRefusedInput = false

    /** Emits the bytes that the process writes to its standard output. They can be read once.
      *
      * **Waits** for the end of the process, and of all that it has left running with that output.
      * **Cancelled** while it waits for more: kills the process. **Fails** with an `IOException`.
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

    /** Nothing, once all of `blocks` is written to its standard input, which is closed then.
      * **Waits** while it does not read. **Cancelled** meanwhile, or if `blocks` fails: kills the
      * process, which would take a part of the input for all of it. **Fails** with an `IOException`
      * if it has ended, or has closed its input.
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

    /** With what it has ended. **Waits** for that. **Cancelled** meanwhile: it goes on.
      * {{{
      * val isClean: Task[Boolean] =
      *   Command.run("git", "diff", "--quiet").use(_.exitCode).map(_ == 0)
      * }}}
      */
    val exitCode: Task[Int] = Task(process.waitFor())

    /** Ends it now, with the processes that it has begun.
      * {{{
      * val stopped: Task[Int] =
      *   Command.run("sleep", "60").use(process => process.kill >> process.exitCode)
      * }}}
      */
    val kill: Task[Unit] = Task.uninterruptible {
      if process.isAlive then
        // by handles: `Process.destroy` waits for a write to the process that waits for the process
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

    /** Closes the standard input. Does not wait for a write that was abandoned, after which the JDK
      * closes it.
      */
    private def closeInput: Task[Unit] = Task.defer {
      if writeAbandoned then
        Task.onPlatformThread(process.getOutputStream.close()).attempt.start.void
      else Task(process.getOutputStream.close())
    }

    /** The output of what the process has left running is not waited for. */
    private[Command] def release: Task[Unit] = kill
      .guarantee(closeInput.handleError(_ => ())) // what was not written when the process ended
      .guarantee(Task {
        for closed <- List(process.getInputStream, process.getErrorStream) do
          try closed.close()
          catch case _: IOException => ()
      })
