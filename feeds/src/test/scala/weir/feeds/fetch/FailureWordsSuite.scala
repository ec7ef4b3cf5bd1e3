package weir.feeds.fetch

import java.io.IOException
import java.net.{
  ConnectException,
  InetAddress,
  NoRouteToHostException,
  ServerSocket,
  SocketException
}
import java.net.http.HttpConnectTimeoutException
import java.nio.channels.ClosedChannelException
import java.security.cert.CertificateExpiredException
import javax.net.ssl.SSLHandshakeException
import scala.concurrent.duration.*
import scala.util.Using

import munit.FunSuite

class FailureWordsSuite extends FunSuite with FetchFixture:
  private def answered(bytes: String): Failure =
    failure(fetch("http://a.example/")(_ => bytes.getBytes)._1)

  private def direct(url: String): Failure =
    val fetcher = Fetcher(1.minute, 1000, identity)
    try failure(fetcher.fetch(feed(url)).runSync())
    finally fetcher.close()

  private def said(failure: Failure) = (failure.reason, failure.detail)

  test("what connections come to is said without Java's words"):
    assertEquals(
      said(direct("http://127.0.0.1:1/")),
      Reason.NoConnection -> "connection refused"
    )
    assertEquals(
      said(direct("http://none.invalid/")),
      Reason.UnknownHost -> "no address of none.invalid can be found"
    )
    assertEquals(
      said(answered("")),
      Reason.Reset -> "the server closed the connection without an answer"
    )
    assertEquals(
      said(overTls("")),
      Reason.Insecure -> "the server closed the connection while TLS began"
    )
    assertEquals(
      said(overTls("HTTP/1.1 400 x\r\n\r\n")),
      Reason.Insecure -> "the server speaks no TLS at this port"
    )

  /** Returns the failure for a server that answers so to the first message of TLS. */
  private def overTls(answer: String): Failure =
    Using.resource(ServerSocket(0, 50, InetAddress.getLoopbackAddress)): server =>
      val _ = Thread
        .ofVirtual()
        .start: () =>
          try
            while true do
              Using.resource(server.accept()): connection =>
                connection.getInputStream.read(new Array[Byte](16_384)): Unit
                connection.getOutputStream.write(answer.getBytes)
          catch case _: IOException => ()
      direct(s"https://127.0.0.1:${server.getLocalPort}/")

  test("answers that are none of HTTP, or end too early, say so"):
    val head = "HTTP/1.1 200 x\r\nConnection: close\r\n"
    for (bytes, reason, words) <- List(
        (
          "SSH-2.0-OpenSSH\r\n\r\n",
          Reason.NotHttp,
          "the answer is no HTTP: it begins with 'SSH-2.0-OpenSSH'"
        ),
        (
          s"${head}Content-Length: 9\r\n\r\nabc",
          Reason.Reset,
          "the connection ended after 3 of 9 bytes"
        ),
        (
          s"${head}Transfer-Encoding: chunked\r\n\r\n9\r\nabc",
          Reason.Reset,
          "the connection ended in the middle of the body"
        ),
        (
          s"${head}Content-Length: many\r\n\r\nabc",
          Reason.NotHttp,
          "a number in the head of the answer is invalid (For input string: \"many\")"
        ),
        (
          s"${head}Content-Length: 99999999999999999999\r\n\r\nabc",
          Reason.TooLarge,
          "it announces more bytes than can be counted"
        ),
        (
          s"${head}Content-Length: 9000000000000\r\n\r\nabc",
          Reason.TooLarge,
          "more than 1 MB (it announces 9 TB)"
        )
      )
    do assertEquals(said(answered(bytes)), reason -> words, bytes)

  private def of(error: Throwable): (Reason, String) = said(Failure.of(error))

  test("what the client throws is told by its innermost cause that says something"):
    val refused = ConnectException()
    refused.initCause(ClosedChannelException()): Unit
    assertEquals(of(IOException(refused)), Reason.NoConnection -> "connection refused")
    val late = HttpConnectTimeoutException("HTTP connect timed out")
    late.initCause(ConnectException("HTTP connect timed out")): Unit
    assertEquals(
      of(late),
      Reason.ConnectTimedOut -> "the server did not take the connection in time"
    )
    assertEquals(
      of(NoRouteToHostException("No route to host")),
      Reason.NoConnection -> "there is no route to the host"
    )
    assertEquals(
      of(ConnectException("Network is unreachable")),
      Reason.NoConnection -> "the network of the host cannot be reached"
    )
    assertEquals(
      of(SocketException("Connection reset")),
      Reason.Reset -> "the server reset the connection"
    )
    assertEquals(
      of(IOException("Received RST_STREAM: Internal error")),
      Reason.Reset ->
        "the server broke off the exchange of HTTP/2 (Received RST_STREAM: Internal error)"
    )
    assertEquals(
      of(IOException("java.lang.IllegalStateException: selector@1f2e3d4c closed")),
      Reason.Reset -> "the exchange broke off"
    )

  test("what is wrong with a certificate is said"):
    val path = "PKIX path validation failed: java.security.cert.CertPathValidatorException: x"
    val expired = SSLHandshakeException(path)
    expired.initCause(CertificateExpiredException("NotAfter: Fri Nov 20 2026")): Unit
    for (error, words) <- List(
        expired -> "the certificate has expired",
        SSLHandshakeException("PKIX path building failed: sun.security.x") ->
          "the certificate is not of an authority that this machine trusts",
        SSLHandshakeException("No subject alternative DNS name matching a.example found.") ->
          "the certificate is for another host",
        SSLHandshakeException("(handshake_failure) Received fatal alert: handshake_failure") ->
          "the server refused TLS: handshake failure"
      )
    do assertEquals(of(IOException(error)), Reason.Insecure -> words)
