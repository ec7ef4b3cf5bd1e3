package weir.kafka.broker

import java.io.IOException
import java.net.{InetAddress, ServerSocket}
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE, WRITE}
import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}
import scala.concurrent.duration.*
import scala.util.Try

import munit.FunSuite

/** Attaching to a broker, with a stand-in for it. */
class KafkaBrokerSuite extends FunSuite:
  override val munitTimeout: Duration = 2.minutes

  private val noJar = BrokerSettings(classPath = Some("no.jar"))

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("weir-broker").resolve("broker"),
    _ => ()
  )

  /** The file that a broker leaves in its folder for those who want to attach to it. */
  private def write(folder: Path, port: Int, pid: Long): Path =
    Files.createDirectories(folder): Unit
    Files.writeString(folder.resolve("broker"), s"9092 $port $pid")

  folder.test("a broker that answers late is waited for, over one connection"): folder =>
    val toldOften = CountDownLatch(30)
    val connections = java.util.concurrent.atomic.AtomicInteger()
    val silent = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    write(folder, silent.getLocalPort, ProcessHandle.current.pid): Unit
    Thread.ofVirtual().start { () =>
      val socket = silent.accept()
      connections.incrementAndGet(): Unit
      toldOften.await(1, TimeUnit.MINUTES): Unit
      socket.getOutputStream.write('A')
    }: Unit
    val broker =
      KafkaBroker.in(folder, noJar, waiting = _ => toldOften.countDown(), tellEvery = 1.milli)
    assertEquals((broker.port, broker.isAlive, connections.get), (9092, true, 1))
    assertEquals(toldOften.getCount, 0L)
    broker.close()
    silent.close()

  folder.test("another thread of this JVM that starts the broker is waited for"): folder =>
    val lock = FileChannel.open(folder.resolveSibling("broker.lock"), CREATE, WRITE)
    lock.lock(): Unit
    val ended = CompletableFuture[Try[KafkaBroker]]()
    val waiting = Thread
      .ofPlatform()
      .start(() => ended.complete(Try(KafkaBroker.in(folder, noJar))): Unit)
    while waiting.isAlive && waiting.getState != Thread.State.TIMED_WAITING do Thread.sleep(1)
    assert(!ended.isDone)
    lock.close()
    val message = ended.get(1, TimeUnit.MINUTES).failed.get.getMessage
    assert(message.contains("the broker did not start"), message)

  folder.test("what a killed broker has left is not waited for, though another has its number"):
    folder =>
      val port =
        val socket = ServerSocket(0, 1, InetAddress.getLoopbackAddress)
        try socket.getLocalPort
        finally socket.close()
      val state = write(folder, port, ProcessHandle.current.pid)
      Files.setLastModifiedTime(state, java.nio.file.attribute.FileTime.fromMillis(1000)): Unit
      val failed = intercept[IOException](KafkaBroker.in(folder, noJar))
      assert(failed.getMessage.contains("the broker did not start"), failed.getMessage)
      assert(!Files.exists(state))
