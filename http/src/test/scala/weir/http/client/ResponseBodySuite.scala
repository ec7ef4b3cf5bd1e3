package weir.http.client

import java.io.IOException
import java.nio.ByteBuffer
import java.util.concurrent.{CountDownLatch, Flow}
import scala.concurrent.duration.*
import weir.{Task, WeirSuite}

class ResponseBodySuite extends WeirSuite:
  private val isRequested = CountDownLatch(1)

  private def subscribed(): ResponseBody =
    val body = ResponseBody()
    body.onSubscribe(new Flow.Subscription:
      def request(count: Long): Unit = isRequested.countDown()
      def cancel(): Unit = ())
    body

  private def reading(body: ResponseBody): Task[Either[Throwable, Unit]] =
    body.stream(1.minute, "GET /").drain.attempt

  private def isAfterUse(result: Either[Throwable, Unit]): Boolean =
    result.left.exists(e => e.isInstanceOf[IOException] && e.getMessage.contains("use of the resp"))

  test("a body that has come but was not read fails after the use: it is not empty"):
    val body = subscribed()
    body.onNext(java.util.List.of(ByteBuffer.wrap("abc".getBytes)))
    body.onComplete()
    body.close()
    val result = reading(body).runSync()
    assert(isAfterUse(result), result)

  test("the end of the use ends a wait for the next block"):
    val body = subscribed()
    val result = reading(body)
      .both(Task { await(isRequested); body.close() })
      .map(_._1)
      .timeout(10.seconds)
      .runSync()
    assert(isAfterUse(result), result)
