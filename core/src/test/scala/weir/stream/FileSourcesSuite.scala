package weir
package stream

import java.nio.file.{FileSystemException, Files, NoSuchFileException, Path, StandardOpenOption}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.io.{FileChange, Text}

class FileSourcesSuite extends StreamTests:

  private def inFolder(body: Path => Unit): Unit =
    val folder = Files.createTempDirectory("weir")
    try body(folder)
    finally
      if Files.exists(folder) then
        val paths = Files.walk(folder)
        try paths.iterator.asScala.toList.reverse.foreach(Files.delete)
        finally paths.close()

  private def write(file: Path, text: String): Unit = Files.writeString(file, text): Unit
  private def append(file: Path, text: String): Unit =
    Files.writeString(file, text, StandardOpenOption.APPEND): Unit

  test("walk has a directory before its entries, to the depth asked for"):
    inFolder { folder =>
      val (a, b) = (folder.resolve("a"), folder.resolve("a/b"))
      Files.createDirectory(a): Unit
      write(b, "")
      assertEquals(Stream.walk(folder).toList.runSync(), List(folder, a, b))
      assertEquals(Stream.walk(folder, maxDepth = 1).toList.runSync(), List(folder, a))
      assertEquals(Stream.walk(folder).take(1).toList.runSync(), List(folder))
      val none = folder.resolve("none")
      intercept[NoSuchFileException](Stream.walk(none).drain.runSync()): Unit
      intercept[IllegalArgumentException](Stream.walk(folder, -1)): Unit
    }

  test("walk fails with the IOException of a directory that goes away"):
    inFolder { folder =>
      val a = folder.resolve("a")
      Files.createDirectory(a): Unit
      val walk =
        Stream.walk(folder).evalTap(path => Task.when(path == folder)(Task(Files.delete(a))))
      // the JDK has read the names of the first directory by then, or not
      seen(walk).runSync() match
        case List(`folder`) => ()
        case List(`folder`, _: NoSuchFileException) => ()
        case other => fail(s"$other")
    }

  test("watch sees a file made and deleted, ends with its directory, and can be cancelled"):
    inFolder { folder =>
      val file = folder.resolve("a")
      val seen = Log()
      val fiber = Stream.watch(folder).evalTap(c => seen(s"$c")).drain.start.runSync()
      // no event tells that the watch has begun
      eventually("it watches") {
        Files.deleteIfExists(file): Unit
        write(file, "a")
        seen.lines.contains(s"${FileChange.Created(file)}")
      }
      Files.delete(file)
      eventually("deleted")(seen.lines.contains(s"${FileChange.Deleted(file)}"))
      fiber.cancel.timeout(10.seconds).runSync()
    }
    val none = Path.of("none", "at", "all")
    intercept[NoSuchFileException](Stream.watch(none).drain.runSync()): Unit

  test("watch ends when its directory is deleted"):
    val folder = Files.createTempDirectory("weir")
    val seen = Log()
    val fiber = Stream.watch(folder).evalTap(c => seen(s"$c")).drain.start.runSync()
    val file = folder.resolve("a")
    eventually("it watches") {
      Files.deleteIfExists(file): Unit
      write(file, "a")
      seen.lines.nonEmpty
    }
    Files.delete(file)
    Files.delete(folder)
    assertEquals(fiber.join.timeout(10.seconds).runSync(), Outcome.Succeeded(()))

  /** The text that has come, of a tail with a short interval. */
  private final class Tail(file: Path, fromEnd: Boolean = false, blockBytes: Int = 3):
    private val text = StringBuffer()
    private val fiber = Text
      .utf8Decode(Stream.tailOf(file, fromEnd, interval = 1.millis, blockBytes))
      .evalTap(part => Task(text.append(part)))
      .drain
      .start
      .runSync()
    def has(expected: String): Unit =
      eventually(s"$expected, not $text")(text.toString == expected)
    def contains(part: String): Boolean = text.toString.contains(part)
    def stop(): Unit = fiber.cancel.timeout(10.seconds).runSync()

  test("tailOf: what there is, what is added, another file in its place, a file cut"):
    inFolder { folder =>
      val file = folder.resolve("log")
      write(file, "one two ")
      val tail = Tail(file)
      tail.has("one two ")
      append(file, "three ")
      tail.has("one two three ")
      append(file, "four ")
      Files.move(file, folder.resolve("log.1")): Unit
      write(file, "five ")
      tail.has("one two three four five ")
      write(file, "6 ") // cut and written anew
      tail.has("one two three four five 6 ")
      Files.delete(file)
      write(file, "7 ")
      tail.has("one two three four five 6 7 ")
      tail.stop()
    }

  test("tailOf from the end, and of a file that is made later"):
    inFolder { folder =>
      val file = folder.resolve("log")
      write(file, "old ")
      val tail = Tail(file, fromEnd = true)
      eventually("it has begun") {
        append(file, "x")
        tail.contains("x")
      }
      assert(!tail.contains("old"))
      tail.stop()
    }
    inFolder { folder =>
      val later = folder.resolve("later")
      val waits = Tail(later)
      write(later, "all of it")
      waits.has("all of it")
      waits.stop()
    }

  test("tailOf: not consumed to the end"):
    inFolder { folder =>
      val file = folder.resolve("log")
      write(file, "abcdef")
      val first = Stream.tailOf(file, blockBytes = 4).take(2).map(String(_)).toList
      assertEquals(first.runSync(), List("abcd", "ef"))
      intercept[IllegalArgumentException](Stream.tailOf(file, interval = 0.seconds)): Unit
    }

  test("a directory in place of a file is named"):
    inFolder { folder =>
      for (name, stream) <- List[(String, Task[Any])](
          "fromPath" -> Stream.fromPath(folder).drain,
          "linesOf" -> Stream.linesOf(folder).drain,
          "tailOf" -> Stream.tailOf(folder).drain,
          "writeTo" -> Stream.emit(Array[Byte](1)).writeTo(folder)
        )
      do
        val error = intercept[FileSystemException](stream.runSync())
        assertEquals(error.getMessage, s"$folder: Is a directory", name)
    }

  test("no file stays open: after the end, take, an error, a cancel"):
    import com.sun.management.UnixOperatingSystemMXBean
    java.lang.management.ManagementFactory.getOperatingSystemMXBean match
      case system: UnixOperatingSystemMXBean =>
        inFolder { folder =>
          val file = folder.resolve("a")
          write(file, "abcdef")
          val boom = Boom()
          val sources = List(Stream.walk(folder), Stream.tailOf(file), Stream.fromPath(file))
          def again(): Unit =
            for source <- sources do
              source.take(1).drain.runSync()
              assertEquals(source.evalMap(_ => Task.fail(boom)).drain.attempt.runSync(), Left(boom))
              source.evalMap(_ => Task.canceled).drain.start.flatMap(_.join).runSync(): Unit
            Stream.watch(folder).drain.timeout(1.millis).attempt.runSync(): Unit
            val failing = Stream("a".getBytes) ++ Stream.fail(boom)
            assertEquals(failing.writeTo(file).attempt.runSync(), Left(boom))
            assertEquals(failing.writeRotating(1)(_ => file).attempt.runSync(), Left(boom))
          again()
          val before = system.getOpenFileDescriptorCount
          for _ <- 1 to 60 do again()
          val more = system.getOpenFileDescriptorCount - before
          assert(more < 40, s"$more more open files")
        }
      case _ => ()
