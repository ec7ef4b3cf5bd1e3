package weir.http.server

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import scala.concurrent.duration.*
import weir.{Task, WeirSuite}

class ReaderThreadsSuite extends WeirSuite:
  test("a reader that is kept is replaced once there is memory for a thread again"):
    val refused = AtomicInteger()
    val threads = new ReaderThreads(1, 7, HandlerTimes()):
      override def newThread(job: Runnable): Thread =
        if Thread.currentThread.getName == "weir-http-watch" && refused.incrementAndGet() <= 3 then
          throw OutOfMemoryError("unable to create native thread")
        super.newThread(job)
    threads.start()
    try
      val replaced = CountDownLatch(1)
      val isOver = CountDownLatch(1)
      threads.execute { () =>
        val thread = ReaderThread.here.nn
        thread.keep(() => replaced.countDown())
        thread.run(() => isOver.await())
      }
      try await(replaced)
      finally isOver.countDown()
      assertEquals(refused.get, 4)
    finally threads.stop()

  test("buffers are gathered as they are, and what was written is taken out of them"):
    val thread = ReaderThread(ReaderThreads(1, 7, HandlerTimes()), () => ())
    val buffers = Seq("abc", "", "de", "fgh").map(text => ByteBuffer.wrap(text.getBytes))
    def left = buffers.map(buffer => UTF_8.decode(buffer.duplicate()).toString)
    for (count, rest) <- List(0 -> Seq("abc", "", "de", "fgh"), 4 -> Seq("", "", "e", "fgh")) do
      ReaderThread.skip(buffers, count)
      assertEquals(left, rest)
      assertEquals(UTF_8.decode(thread.gathered(buffers).nn).toString, rest.mkString)
      assertEquals(left, rest)
    assertEquals(thread.gathered(buffers :+ ByteBuffer.allocate(4096)), null)

  test("threads inherit nothing from the one that starts them"):
    val local = InheritableThreadLocal[String]()
    val seen = AtomicReference[(String | Null, ClassLoader)]()
    val threads = ReaderThreads(1, 7, HandlerTimes())
    val starter = Thread.ofPlatform().start { () =>
      local.set("of the starter")
      Thread.currentThread.setContextClassLoader(ClassLoader.getPlatformClassLoader)
      val thread =
        threads.newThread(() => seen.set((local.get, Thread.currentThread.getContextClassLoader)))
      thread.start()
      thread.join()
    }
    starter.join()
    assertEquals(seen.get, (null, classOf[ReaderThreads].getClassLoader))

  test("the sweep goes on after an error"):
    val looks = CountDownLatch(3)
    val sweep = JettyServer.sweep(1.milli, ServerLog(isAccessLogged = false)) { _ =>
      looks.countDown()
      throw IllegalStateException("a look that fails")
    }
    sweep.background.use(_ => Task.delay(await(looks))).runSync()
