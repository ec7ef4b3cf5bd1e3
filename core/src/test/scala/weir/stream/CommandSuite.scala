package weir
package stream

import java.io.IOException
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

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

  test("an error of the input's stream is that of writeInput, and the input is closed"):
    val boom = Boom()
    val result = shell("cat").use(process =>
      process
        .writeInput(Stream("a".getBytes) ++ Stream.fail(boom))
        .attempt
        .both(text(process.output))
    )
    assertEquals(result.runSync(), (Left(boom), "a"))

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
