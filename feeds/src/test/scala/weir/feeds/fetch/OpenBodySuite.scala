package weir.feeds.fetch

import java.net.http.{HttpClient, HttpHeaders, HttpResponse}
import java.util.concurrent.Flow

import munit.FunSuite

class OpenBodySuite extends FunSuite:
  private object info extends HttpResponse.ResponseInfo:
    def statusCode() = 200
    def headers() = HttpHeaders.of(java.util.Map.of(), (_, _) => true)
    def version() = HttpClient.Version.HTTP_1_1

  private final class Subscription extends Flow.Subscription:
    var isCanceled = false
    def request(count: Long) = ()
    def cancel() = isCanceled = true

  test("a body is closed with the exchange"):
    val body = OpenBody()
    val subscription = Subscription()
    body(info).onSubscribe(subscription)
    assert(!subscription.isCanceled)
    body.close()
    assert(subscription.isCanceled)

  test("a response that comes after the end is closed at once, before or after its headers"):
    val late = OpenBody()
    late.close()
    val subscription = Subscription()
    late(info).onSubscribe(subscription)
    assert(subscription.isCanceled)
    val between = OpenBody()
    val subscriber = between(info)
    between.close()
    val second = Subscription()
    subscriber.onSubscribe(second)
    assert(second.isCanceled)
