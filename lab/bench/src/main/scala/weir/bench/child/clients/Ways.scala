package weir.bench.child.clients

import java.util.concurrent.{CompletableFuture, Executors}
import java.util.stream.IntStream

import weir.Task

/** The ways to sum the purchases of the clients 1 to `ids`: they differ in who asks, and in the
  * number of requests at a time.
  */
object Ways:
  type Way = (client: PurchaseClient, ids: Int) => Long

  /** The way by its name, and whose it is. */
  val all: Map[(way: String, system: String), Way] = Map(
    ("one-by-one", "java-stream") -> oneByOne,
    ("parallel-stream", "java-stream") -> parallelStream,
    ("pool-of-100", "completable-future") -> poolOf100,
    ("thread-each", "virtual-threads") -> threadEach,
    ("blocking", "weir") -> weirBlocking,
    ("async", "weir") -> weirAsync,
    ("direct", "weir") -> weirDirect
  )

  private def oneByOne: Way = (client, ids) =>
    IntStream.rangeClosed(1, ids).mapToLong(client.cents).sum

  // On the common pool, as streams do: one thread for each processor.
  private def parallelStream: Way = (client, ids) =>
    IntStream.rangeClosed(1, ids).parallel().mapToLong(client.cents).sum

  private def poolOf100: Way = (client, ids) =>
    val pool = Executors.newFixedThreadPool(100)
    try
      val asked =
        Vector
          .range(1, ids + 1)
          .map(id => CompletableFuture.supplyAsync(() => client.cents(id), pool))
      asked.map(_.join()).sum
    finally pool.close()

  private def threadEach: Way = (client, ids) =>
    val executor = Executors.newVirtualThreadPerTaskExecutor()
    try
      val asked = Vector.range(1, ids + 1).map(id => executor.submit(() => client.cents(id)))
      asked.map(_.get()).sum
    finally executor.close()

  private def weirBlocking: Way = (client, ids) =>
    Task.parTraverse(1 to ids)(id => Task(client.cents(id))).map(_.sum).runSync()

  private def weirAsync: Way = (client, ids) =>
    Task
      .parTraverse(1 to ids)(id => Task.fromCompletionStage(client.centsLater(id)))
      .map(_.sum)
      .runSync()

  private def weirDirect: Way = (client, ids) =>
    Task
      .parTraverse(1 to ids)(id =>
        Task.direct {
          Task.fromCompletionStage(client.centsLater(id)).await
        }
      )
      .map(_.sum)
      .runSync()
