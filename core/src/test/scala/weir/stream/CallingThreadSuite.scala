package weir
package stream

import scala.concurrent.duration.*
import weir.std.Topic

/** The thread that consumes a stream which is run by `runSync`. */
class CallingThreadSuite extends StreamTests:
  private def isOnWorker(stream: Stream[Any]): Boolean =
    stream.fold(false)((_, _) => Thread.currentThread().isVirtual).runSync()

  private val one = Stream.emit(1)

  for (name, stream) <- List[(String, Stream[Any])](
      "map, filter, evalMap" -> one.map(_ + 1).filter(_ > 0).evalMap(Task.pure),
      "flatMap" -> one.flatMap(_ => one),
      "eval" -> Stream.eval(Task(1)),
      "resource" -> Stream.bracket(Task(1))(_ => Task.unit)
    )
  do test(s"on the calling thread: $name")(assert(!isOnWorker(stream)))

  for (name, stream) <- List[(String, Stream[Any])](
      "prefetchN" -> one.prefetchN(4),
      "interruptWhen" -> one.interruptWhen(Task.never),
      "timeout" -> one.timeout(1.day),
      "merge, then map" -> one.merge(one).map(_ + 1),
      "eval.flatMap: nobody knows of what" -> Stream.eval(Topic[Int]).flatMap(_ => one),
      "resource.flatMap" -> Stream.bracket(Task(1))(_ => Task.unit).flatMap(_ => one),
      "pauseWhen" -> one.pauseWhen(Stream(false)),
      "switchMap" -> one.switchMap(Stream.emit),
      "eval.flatMap, in a flatMap, then ++" -> (Stream.eval(Task(1)).flatMap(_ => one) ++ one)
        .flatMap(Stream.emit)
    )
  do
    test(s"on a worker, since waking the calling thread takes ten times as long: $name"):
      assert(isOnWorker(stream))
