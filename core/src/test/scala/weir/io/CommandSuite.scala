package weir
package io

import java.io.IOException
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

class CommandSuite extends StreamTests:

  private def shell(script: String): Resource[Command.Running] =
    assume(Files.exists(Path.of("/bin/sh")), "these are scripts of a Unix shell")
    Command.run("/bin/sh", "-c", script)

  private def text(bytes: Stream[Array[Byte]]): Task[String] =
    Text.utf8Decode(bytes).toList.map(_.mkString)

  test("output, errors and the exit code"):
    val result = shell("echo out; echo err >&2; exit 3").use(process =>
      Task.both(text(process.output), text(process.errors)).both(process.exitCode)
    )
    assertEquals(result.runSync(), (("out\n", "err\n"), 3))

  test("the input goes to the process, and its end"):
    val block = "line\n" * 10_000
    val result = shell("cat").use { process =>
      val blocks = Stream.constant(block.getBytes).take(20)
      process.writeInput(blocks).both(process.output.fold(0L)(_ + _.length)).both(process.exitCode)
    }
    assertEquals(result.runSync(), (((), 20L * block.length), 0))

  test("no such program, and no word"):
    intercept[IOException](Command.run("/no/such/program").use(_ => Task.unit).runSync()): Unit
    intercept[IllegalArgumentException](Command.run()): Unit

  test("an error or a cancel of the input's stream kills the process, which sees no end"):
    val boom = Boom()
    for end <- List[Stream[Nothing]](Stream.fail(boom), Stream.exec(Task.canceled)) do
      val result = shell("cat > /dev/null; echo all").use(process =>
        process
          .writeInput(Stream("a".getBytes) ++ end)
          .start
          .flatMap(_.join)
          .both(text(process.output))
          .both(process.exitCode)
      )
      val ((outcome, output), code) = result.runSync()
      assert(outcome == Outcome.Canceled || outcome == Outcome.Failed(boom), outcome)
      assertEquals(output, "")
      assert(code != 0, code)

  test("a process that reads only a part of its input ends by itself; the write fails"):
    val result = shell("head -c 1 > /dev/null; exec 0<&-; sleep 0.1; echo read").use(process =>
      process
        .writeInput(Stream.constant(new Array[Byte](1 << 16)))
        .attempt
        .both(text(process.output))
    )
    val (written, output) = result.runSync()
    assert(written.left.exists(_.isInstanceOf[IOException]), written)
    assertEquals(output, "read\n")

  /** The process of a `Running`, by the number that its script prints. */
  private def handle(process: Command.Running): Task[ProcessHandle] =
    Text
      .lines(Text.utf8Decode(process.output))
      .take(1)
      .toList
      .map(lines => ProcessHandle.of(lines.head.toLong).get)

  private def isGone(handle: ProcessHandle): Unit =
    eventually("the process has ended")(!handle.isAlive)

  test("the release kills what still runs, and what that has begun"):
    val handles = shell("sleep 1000 & echo $$; wait").use { process =>
      handle(process).map(shell => (shell, shell.children.toList))
    }
    val begun = System.nanoTime()
    val (parent, children) = handles.runSync()
    assert((System.nanoTime() - begun).nanos < 5.seconds)
    isGone(parent)
    children.forEach(isGone(_))

  test("a process that ignores the request to end is killed after its grace"):
    assume(Files.exists(Path.of("/bin/sh")), "these are scripts of a Unix shell")
    val script = "trap '' TERM; echo $$; while true; do sleep 0.01; done"
    val process = Command.runAs(ProcessBuilder("/bin/sh", "-c", script), grace = 50.millis)
    isGone(process.use(handle).runSync())

  test("a cancel ends a read that waits, a write that waits, and a wait for the end"):
    def cancelled(use: Command.Running => Task[Any]): Unit =
      val result = shell("sleep 1000").use(process => use(process).timeout(50.millis)).attempt
      assert(result.timeout(10.seconds).runSync().isLeft)
    cancelled(_.output.drain)
    cancelled(_.errors.drain)
    cancelled(_.exitCode)
    cancelled(_.writeInput(Stream.constant(new Array[Byte](1 << 16))))

  /** True while a thread waits in a native read or write of a pipe. */
  private def isIn(nativeCall: String): Boolean =
    Thread.getAllStackTraces.values.asScala
      .exists(_.headOption.exists(_.getMethodName == nativeCall))

  /** Begins `call`; lets the shell end, which leaves another process running with its pipes; and
    * runs `cancel`. The other process goes on through all that, the release too.
    */
  private def left[A](nativeCall: String)(call: Command.Running => Task[Unit])(
      cancel: Fiber[Unit] => Task[A]
  ): A =
    val script = "trap 'exit 0' USR1; exec 3<&0; sleep 60 <&3 & echo $$ $!; wait"
    val use = shell(script).use { process =>
      for
        line <- Text.lines(Text.utf8Decode(process.output)).take(1).toList
        ids = line.head.split(' ')
        fiber <- call(process).start
        _ <- Task(eventually("it waits for the pipe")(isIn(nativeCall)))
        _ <- Command.run("kill", "-USR1", ids(0)).use(_.exitCode) >> process.exitCode
        result <- cancel(fiber)
      yield (result, ProcessHandle.of(ids(1).toLong).get)
    }
    val before = WeirRuntime.default.abandonedTasks
    val (result, other) = use.runSync()
    assert(other.isAlive, "the other process was killed")
    other.destroyForcibly(): Unit
    eventually("the call ends with the other process")(WeirRuntime.default.abandonedTasks == before)
    result

  test("a cancel ends a read that waits for a process which was left running"):
    left("readBytes")(_.output.drain)(_.cancel)
    left("readBytes")(_.errors.drain)(_.cancel)

  test(
    "a cancel ends a write that waits for a process which was left running; so does the release"
  ):
    left("writeBytes")(_.writeInput(Stream.constant(new Array[Byte](1 << 16))))(_.cancel)

  test("a race ends a read that waits for a process which was left running"):
    val gate = Deferred.unsafe[Unit]
    left("readBytes")(process => Task.race(process.output.drain, gate.get).void)(fiber =>
      gate.complete(()) >> fiber.joinOrFail
    )
