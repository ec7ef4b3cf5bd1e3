package weir.postgres.protocol

import java.io.{IOException, InputStream}
import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue}
import scala.collection.mutable
import weir.WeirSuite

/** Tests which thread reads a socket, and when. */
class WatchedInputSuite extends munit.FunSuite, WeirSuite:
  private val copyIn = Array[Byte]('G', 0, 0, 0, 7, 0, 0, 0)
  private val ready = Array[Byte]('Z', 0, 0, 0, 5, 'I')
  private val done = Array[Byte]('C', 0, 0, 0, 6, 'x', 0)

  /** A socket that gives one part a read, and records the reading threads. */
  private final class Parts extends InputStream:
    private val parts = LinkedBlockingQueue[Array[Byte] | IOException]()

    /** The thread of each read, added when the read begins. */
    val readers = LinkedBlockingQueue[Thread]()

    def give(part: Array[Byte] | IOException): Unit = parts.put(part)

    override def read(): Int = throw UnsupportedOperationException()
    override def read(target: Array[Byte], offset: Int, length: Int): Int =
      readers.put(Thread.currentThread)
      parts.take() match
        case error: IOException => throw error
        case bytes: Array[Byte] if bytes.isEmpty => -1
        case bytes: Array[Byte] =>
          System.arraycopy(bytes, 0, target, offset, bytes.length)
          bytes.length

  private def withInput(body: (Parts, WatchedInput) => Unit): Unit =
    val parts = Parts()
    body(parts, WatchedInput(parts, () => 0, _ => ()))

  private def take(input: WatchedInput, count: Int): List[Byte] =
    val bytes = new Array[Byte](count)
    var at = 0
    while at < count do
      val got = input.read(bytes, at, count - at)
      assert(got > 0, s"the end after $at of $count bytes")
      at += got
    bytes.toList

  /** The server has agreed to a COPY, and the driver has read that. Returns the thread that
    * watches.
    */
  private def copying(parts: Parts, input: WatchedInput): Thread =
    parts.give(copyIn)
    assertEquals(take(input, copyIn.length), copyIn.toList)
    parts.readers.clear()
    input.watch()
    parts.readers.take()

  test("without a COPY only the caller of read reads"):
    withInput { (parts, input) =>
      input.watch()
      parts.give(done)
      assertEquals(take(input, done.length), done.toList)
      assertEquals(parts.readers.toArray.toList, List[AnyRef](Thread.currentThread))
    }

  test("during a COPY another thread reads unasked, and the caller of read gets its bytes"):
    withInput { (parts, input) =>
      val watch = copying(parts, input)
      assert(watch ne Thread.currentThread)
      for _ <- 1 to 100 do parts.give(done)
      eventually("all has been read")(input.available() == 100 * done.length)
      assertEquals(take(input, 100 * done.length), List.fill(100)(done.toList).flatten)
      input.watch() // it is watched already
      parts.give(ready)
      watch.join()
      assert(parts.readers.toArray.forall(_ eq watch))
    }

  test("who watches a COPY never touches the socket again once the server is ready"):
    withInput { (parts, input) =>
      for round <- 1 to 3 do
        val watch = copying(parts, input)
        parts.give(done ++ ready)
        assertEquals(take(input, 13), (done ++ ready).toList)
        // Were the watch still there, this thread would wait for what that reads.
        parts.readers.clear()
        parts.give(done)
        assertEquals(take(input, done.length), done.toList)
        assertEquals(
          parts.readers.toArray.toList,
          List[AnyRef](Thread.currentThread),
          s"round $round"
        )
        watch.join()
    }

  test("the ready may be cut anywhere, and more may come behind it"):
    val tail = ready ++ done
    for cut <- 1 until tail.length do
      withInput { (parts, input) =>
        val watch = copying(parts, input)
        parts.give(tail.take(cut))
        parts.give(tail.drop(cut))
        assertEquals(take(input, tail.length), tail.toList, s"cut at $cut")
        watch.join()
      }

  test("what ends the stream during a COPY reaches the one who waits, after what came before it"):
    val ends = mutable.LinkedHashMap[String, Array[Byte] | IOException](
      "end" -> Array.emptyByteArray,
      "reset" -> IOException("reset")
    )
    for (name, end) <- ends do
      withInput { (parts, input) =>
        val watch = copying(parts, input)
        val result = CompletableFuture[String]()
        val reader = Thread.ofVirtual().start { () =>
          val took = take(input, done.length)
          assertEquals(took, done.toList)
          val last =
            try if input.read() < 0 then "end" else "a byte"
            catch case error: IOException => error.getMessage
          result.complete(last): Unit
        }
        eventually("it waits")(reader.getState == Thread.State.WAITING)
        parts.give(done)
        parts.give(end)
        assertEquals(result.get, name)
        watch.join()
        input.watch() // there is nothing to watch any more
        assertEquals(parts.readers.size, 1)
      }
