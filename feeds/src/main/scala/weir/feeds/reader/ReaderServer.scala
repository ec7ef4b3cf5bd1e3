package weir.feeds.reader

import java.io.IOException
import java.net.URI

import org.eclipse.jetty.server.{HttpConfiguration, HttpConnectionFactory, Server, ServerConnector}
import org.eclipse.jetty.util.thread.QueuedThreadPool

import weir.feeds.store.StoreReader
import weir.program.BadInput

/** The reader's pages on a port of the loop-back interface. */
final class ReaderServer private (server: Server, port: Int) extends AutoCloseable:
  val address: URI = URI.create(s"http://127.0.0.1:$port/")

  def close(): Unit = server.stop()

object ReaderServer:
  private val platformThreads = 12

  /** Returns the server, on a free port if `port` is 0.
    *
    * **Fails** with [[BadInput]] if the port cannot be had.
    */
  def start(store: StoreReader, port: Int, times: LocalTime, staleMillis: Long): ReaderServer =
    // Platform threads: a reader of SQLite may wait inside native code.
    val threads = QueuedThreadPool(platformThreads, 4)
    threads.setName("reader")
    threads.setDaemon(true)
    threads.setReservedThreads(0)
    val server = Server(threads)
    val config = HttpConfiguration()
    config.setSendServerVersion(false)
    val connector = ServerConnector(server, 1, 1, HttpConnectionFactory(config))
    connector.setHost("127.0.0.1")
    connector.setPort(port)
    server.addConnector(connector)
    server.setStopTimeout(0)
    try connector.open()
    catch
      case error: IOException =>
        val cause = Option(error.getCause).getOrElse(error).getMessage
        throw BadInput("--port", s"$port cannot be used ($cause).", "Name another, or 0 for any.")
    val pages = ReaderPages(store, times, staleMillis)
    server.setHandler(ReaderHandler(pages, connector.getLocalPort))
    server.start()
    ReaderServer(server, connector.getLocalPort)
