package weir
package io

import java.io.{ByteArrayOutputStream, FileInputStream, IOException, PrintStream}
import java.net.Socket
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.*

/** A server in a process that runs out of files while a client begins to connect. Prints the
  * answers that the clients got.
  */
object TcpFullProcess:

  private def ask(client: Socket): String =
    client.getOutputStream.write('x')
    client.setSoTimeout(15_000)
    if client.getInputStream.read() == 'x' then "answered" else "closed"

  /** Opens files until there can be no more. */
  private def exhaust(): List[FileInputStream] =
    val files = ListBuffer[FileInputStream]()
    try while true do files += FileInputStream("/dev/null")
    catch case _: IOException => ()
    files.toList

  def main(args: Array[String]): Unit =
    val errors = ByteArrayOutputStream()
    System.setErr(PrintStream(errors, true))
    val program = Tcp.listen(0).use { server =>
      server
        .serve(limit = 10)(c => c.writeAll(c.bytes()))
        .background
        .use(_ =>
          Task {
            def client() = Socket("localhost", server.port)
            val early = client()
            println(s"before: ${ask(early)}")
            client().close() // whatever is loaded for the first time
            val late = Socket()
            late.bind(null) // takes its file
            val files = exhaust()
            late.connect(java.net.InetSocketAddress("localhost", server.port))
            println(s"meanwhile, the early one: ${ask(early)}")
            while !errors.toString.contains("accepting a connection at port") do Thread.sleep(1)
            println("the server has reported it")
            files.foreach(_.close())
            println(s"after, the late one: ${ask(late)}")
            println(s"after, the early one: ${ask(early)}")
          }
        )
    }
    program.timeout(40.seconds).runSync()
