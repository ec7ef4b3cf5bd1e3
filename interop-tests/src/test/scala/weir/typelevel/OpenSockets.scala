package weir.typelevel

import java.net.ServerSocket
import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import scala.util.{Try, Using}

/** The sockets that this process has, as the kernel knows them. */
object OpenSockets:
  private val descriptors = Path.of("/proc/self/fd")

  // The JDK keeps one socket from the first close on, which it puts in the place of others.
  Using.resource(ServerSocket(0))(_.getLocalPort): Unit

  /** Returns the number of open sockets; 0 if the kernel does not tell. */
  def count: Int =
    if !Files.isDirectory(descriptors) then 0
    else
      Using.resource(Files.list(descriptors))(files =>
        files.iterator.asScala.count(file =>
          Try(Files.readSymbolicLink(file).toString).toOption.exists(_.startsWith("socket:"))
        )
      )
