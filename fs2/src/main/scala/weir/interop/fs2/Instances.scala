package weir.interop.fs2

import _root_.fs2.hashing.Hashing
import _root_.fs2.io.file.Files
import _root_.fs2.io.net.unixsocket.UnixSockets
import _root_.fs2.io.net.{BlockingNetwork, Network}
import _root_.fs2.io.process.Processes
import com.comcast.ip4s.{Dns, NetworkInterfaces}
import scala.annotation.nowarn
import weir.Task
import weir.interop.cats.given

/** TCP connections that block the fiber's worker, and hold nothing else. http4s, skunk and other
  * libraries that need a `Network` run on it. TLS, UDP and Unix sockets are fs2's own, over this
  * `Task`.
  *
  * A read that is cancelled takes nothing, and the socket can be read again, as with `IO`.
  */
given networkForTask: Network[Task] = BlockingNetwork()

/** fs2's own operations on files: they block the fiber's worker. */
given filesForTask: Files[Task] = Files.forAsync

/** fs2's own Unix sockets, for code that has not moved to `Network` yet. */
@nowarn("cat=deprecation")
given unixSocketsForTask: UnixSockets[Task] = UnixSockets.forAsync

/** fs2's own processes. */
given processesForTask: Processes[Task] = Processes.forAsync

/** fs2's own hash functions. */
given hashingForTask: Hashing[Task] = Hashing.forSync

/** The JDK's lookup of host names, which blocks the fiber's worker. */
given dnsForTask: Dns[Task] = Dns.forAsync

/** The network interfaces of the machine. */
given networkInterfacesForTask: NetworkInterfaces[Task] = NetworkInterfaces.forSync
