package fs2.io.net

import java.net.SocketOption as JavaOption
import java.util.Set as JavaSet
import scala.jdk.CollectionConverters.SetHasAsScala
import weir.Task

/** The options of a socket. Once the socket is closed, they fail with the errors of a closed
  * channel.
  */
private[net] trait TaskSocketInfo extends SocketInfo[Task]:
  protected def isClosed: Boolean
  protected def optionsOfSocket: JavaSet[JavaOption[?]]
  protected def optionOfSocket[A](key: JavaOption[A]): A
  protected def changeOption[A](key: JavaOption[A], value: A): Unit

  final def supportedOptions: Task[Set[SocketOption.Key[?]]] = Task(optionsOfSocket.asScala.toSet)

  final def getOption[A](key: SocketOption.Key[A]): Task[Option[A]] = Task(
    Option.when(optionsOfSocket.contains(key))(
      BlockingSocket.errors(isClosed)(optionOfSocket(key))
    )
  )

  final def setOption[A](key: SocketOption.Key[A], value: A): Task[Unit] = Task {
    if !optionsOfSocket.contains(key) then
      throw UnsupportedOperationException(
        s"setOption: the option was $key, which this socket does not have. It has " +
          s"${optionsOfSocket.asScala.mkString(", ")}."
      )
    BlockingSocket.errors(isClosed)(changeOption(key, value))
  }
