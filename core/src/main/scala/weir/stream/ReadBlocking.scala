package weir.stream

import java.io.InputStream
import java.util.concurrent.atomic.AtomicReference
import weir.{Stream, Task, toInputStream}

/** Elements that blocking code reads out of an input with the bytes of a stream: for the modules
  * that have a library parse or unpack.
  */
private[weir] object ReadBlocking:

  /** The elements of `read`, which gets the input. **Fails** with the error of `bytes` as it is,
    * whatever the code has made of it; otherwise with what `adapt` makes of the code's.
    */
  def apply[A](bytes: Stream[Array[Byte]], adapt: PartialFunction[Throwable, Throwable])(
      read: InputStream => Stream[A]
  ): Stream[A] = Stream.suspend {
    val failure = AtomicReference[Throwable | Null](null)
    Stream
      .resource(bytes.onError { case error => Task(failure.set(error)) }.toInputStream)
      .flatMap(read)
      .adaptError { case error =>
        val upstream = failure.get
        if upstream ne null then upstream.nn else adapt.applyOrElse(error, identity)
      }
  }
