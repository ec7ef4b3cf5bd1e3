package weir.postgres.send

import java.io.{IOException, InputStream}
import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue}
import scala.collection.mutable
import weir.WeirSuite

/** Who reads a socket, and when. */
class InboxSuite extends munit.FunSuite, WeirSuite:
  private val copyIn = Array[Byte]('G', 0, 0, 0, 7, 0, 0, 0)
  private val ready = Array[Byte]('Z', 0, 0, 0, 5, 'I')
  private val done = Array[Byte]('C', 0, 0, 0, 6, 'x', 0)

  /** A socket that gives what it is told to, one part a read, and knows who has asked. */
  private final class Parts extends InputStream:
    private val parts = LinkedBlockingQueue[Array[Byte] | IOException]()

    /** Of each read, from its beginning: while it waits, too. */
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

  private def withInbox(body: (Parts, Inbox) => Unit): Unit =
    val parts = Parts()
    body(parts, Inbox(parts, () => 0, _ => ()))

  private def take(inbox: Inbox, count: Int): List[Byte] =
    val bytes = new Array[Byte](count)
    var at = 0
    while at < count do
      val got = inbox.read(bytes, at, count - at)
      assert(got > 0, s"the end after $at of $count bytes")
      at += got
    bytes.toList

  /** The server has said yes to a COPY, and the driver has read it. The thread that watches. */
  private def copying(parts: Parts, inbox: Inbox): Thread =
    parts.give(copyIn)
    assertEquals(take(inbox, copyIn.length), copyIn.toList)
    parts.readers.clear()
    inbox.watch()
    parts.readers.take()

  test("without a COPY nobody reads but who asks"):
    withInbox { (parts, inbox) =>
      inbox.watch()
      parts.give(done)
      assertEquals(take(inbox, done.length), done.toList)
      assertEquals(parts.readers.toArray.toList, List[AnyRef](Thread.currentThread))
    }

  test("during a COPY another thread reads, though nobody asks, and its bytes are the reader's"):
    withInbox { (parts, inbox) =>
      val watch = copying(parts, inbox)
      assert(watch ne Thread.currentThread)
      for _ <- 1 to 100 do parts.give(done)
      eventually("all has been read")(inbox.available() == 100 * done.length)
      assertEquals(take(inbox, 100 * done.length), List.fill(100)(done.toList).flatten)
      inbox.watch() // it is watched already
      parts.give(ready)
      watch.join()
      assert(parts.readers.toArray.forall(_ eq watch))
    }

  test("who watches a COPY never touches the socket again once the server is ready"):
    withInbox { (parts, inbox) =>
      for round <- 1 to 3 do
        val watch = copying(parts, inbox)
        parts.give(done ++ ready)
        assertEquals(take(inbox, 13), (done ++ ready).toList)
        // Were the watch still there, this thread would wait for what that reads.
        parts.readers.clear()
        parts.give(done)
        assertEquals(take(inbox, done.length), done.toList)
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
      withInbox { (parts, inbox) =>
        val watch = copying(parts, inbox)
        parts.give(tail.take(cut))
        parts.give(tail.drop(cut))
        assertEquals(take(inbox, tail.length), tail.toList, s"cut at $cut")
        watch.join()
      }

  test("what ends the stream during a COPY reaches the one who waits, after what came before it"):
    val ends = mutable.LinkedHashMap[String, Array[Byte] | IOException](
      "end" -> Array.emptyByteArray,
      "reset" -> IOException("reset")
    )
    for (name, end) <- ends do
      withInbox { (parts, inbox) =>
        val watch = copying(parts, inbox)
        val result = CompletableFuture[String]()
        val reader = Thread.ofVirtual().start { () =>
          val took = take(inbox, done.length)
          assertEquals(took, done.toList)
          val last =
            try if inbox.read() < 0 then "end" else "a byte"
            catch case error: IOException => error.getMessage
          result.complete(last): Unit
        }
        eventually("it waits")(reader.getState == Thread.State.WAITING)
        parts.give(done)
        parts.give(end)
        assertEquals(result.get, name)
        watch.join()
        inbox.watch() // there is nothing to watch any more
        assertEquals(parts.readers.size, 1)
      }
