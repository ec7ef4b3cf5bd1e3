package weir.http.client

import java.io.IOException
import java.net.http.HttpConnectTimeoutException
import java.net.{ConnectException, URI}
import weir.WeirSuite

class ConnectErrorsSuite extends WeirSuite:
  private def named(error: Throwable): Throwable =
    ConnectErrors.named(error, URI.create("http://[::1]/a"), mayRedirect = false)

  test("a timeout and a reason of the system keep their words, class and cause"):
    for error <- List(
        HttpConnectTimeoutException("HTTP connect timed out"),
        ConnectException("Network is unreachable")
      )
    do
      val made = named(error)
      assertEquals(made.getClass.getName, error.getClass.getName)
      assertEquals(
        made.getMessage,
        s"HttpClient: cannot connect to [::1]:80: ${error.getMessage}."
      )
      assertEquals(made.getCause, error)

  test("other errors stay as they are"):
    val error = IOException("reset")
    assert(named(error) eq error)
