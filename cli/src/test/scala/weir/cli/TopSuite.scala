package weir.cli

import com.sun.net.httpserver.HttpServer
import java.io.{PrintWriter, StringWriter}
import java.net.{InetAddress, InetSocketAddress}

import weir.program.Main

class TopSuite extends munit.FunSuite:

  private def weir(args: String*): (Int, String, String) =
    val (out, err) = (new StringWriter, new StringWriter)
    val code = Main.run("top" +: args, new PrintWriter(out, true), new PrintWriter(err, true))
    (code, out.toString, err.toString)

  /** A console that asks for the token `secret`. */
  private def withConsole(body: String => Unit): Unit =
    val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/top",
      exchange => {
        val said = exchange.getRequestHeaders.getFirst("Authorization")
        val text = "3 fibers, by line\n".getBytes
        if said == "Bearer secret" then
          exchange.sendResponseHeaders(200, text.length)
          exchange.getResponseBody.write(text)
        else exchange.sendResponseHeaders(401, -1)
        exchange.close()
      }
    ): Unit
    server.start()
    try body(s"http://localhost:${server.getAddress.getPort}")
    finally server.stop(0)

  test("--once prints the text of the console"):
    withConsole { url =>
      assertEquals(weir(url, "--once", "--token", "secret"), (0, "3 fibers, by line\n", ""))
      assertEquals(weir(s"$url/", "--once", "--token", "secret")._1, 0)
    }

  test("a token that is missing, no console and no address are one line each, and exit code 2"):
    withConsole { url =>
      assertEquals(
        weir(url, "--once"),
        (2, "", s"weir top: $url: it needs a token. Use --token.\n")
      )
    }
    val (code, _, nobody) = weir("http://localhost:1", "--once")
    assertEquals(code, 2)
    assert(nobody.startsWith("weir top: http://localhost:1: no answer ("), nobody)
    val (_, _, no) = weir("local host", "--once")
    assert(no.startsWith("weir top: local host: this is no address"), no)
