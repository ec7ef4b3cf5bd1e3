package weir.cli.relay

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.time.Duration
import java.util.concurrent.Executors
import scala.util.Try

import weir.Task

/** Does the tasks: asks for their URLs. */
final class Calls(service: URI) extends AutoCloseable:
  private val executor = Executors.newVirtualThreadPerTaskExecutor()
  private val client =
    HttpClient.newBuilder.executor(executor).connectTimeout(Duration.ofSeconds(10)).build()

  /** Returns the result, as a line of JSON. **Waits** for the answer. **Fails** if there is none,
    * or if it says that the server has failed.
    */
  def result(task: String): Task[String] = Task.delay {
    val uri = service.resolve(
      Try(URI.create(task.trim)).getOrElse(throw IllegalArgumentException(s"'$task' is no URL"))
    )
    val request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60)).build()
    val answer = client.send(request, HttpResponse.BodyHandlers.ofString())
    if answer.statusCode >= 400 then
      throw java.io.IOException(s"$uri answered ${answer.statusCode}")
    val body = Try(ujson.read(answer.body)).getOrElse(ujson.Str(answer.body))
    ujson.write(ujson.Obj("task" -> task, "status" -> answer.statusCode, "answer" -> body))
  }

  def close(): Unit =
    client.shutdownNow()
    executor.close()
