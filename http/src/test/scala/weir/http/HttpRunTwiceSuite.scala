package weir.http

import weir.{RunTwice, Task}

/** Each server and client, made again and beside another one. */
class HttpRunTwiceSuite extends RunTwice, HttpSuite:
  complete(List(HttpServer.getClass, HttpClient.getClass, classOf[HttpClient]))

  private def address(server: HttpServer) = s"http://localhost:${server.port}/"

  row("HttpServer.serve")("ok")(
    HttpServer.serve(0)(ok).use(server => Task(connected(server.port)(_.get("/").body)))
  )

  row("HttpClient.resource")(200)(
    HttpServer
      .serve(0)(ok)
      .use(server => HttpClient.resource().use(_.send(Request.get(address(server)))).map(_.status))
  )

  row("HttpClient.send")(List("ok", "ok"))(
    HttpServer.serve(0)(ok).use { server =>
      HttpClient.resource().use { client =>
        client.send(Request.get(address(server))).flatMap(_.body.text()).replicate(2)
      }
    }
  )

  row("HttpClient.stream")(List("ok", "ok"))(
    HttpServer.serve(0)(ok).use { server =>
      HttpClient.resource().use { client =>
        client.stream(Request.get(address(server))).use(_.body.text()).replicate(2)
      }
    }
  )
