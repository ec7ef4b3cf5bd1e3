package weir.interop.fs2

import _root_.fs2.io.file.Files
import _root_.fs2.io.net.{BlockingNetwork, Network}
import weir.Task
import weir.interop.cats.given

/** TCP connections that block the fiber's worker, which costs nothing else: http4s, skunk and all
  * that asks for a `Network` run on it. TLS, UDP and Unix sockets are fs2's own, over this `Task`.
  *
  * A read that is cancelled takes nothing, and the socket can be read again, as with `IO`.
  */
given networkForTask: Network[Task] = BlockingNetwork()

/** fs2's own operations on files: they block the fiber's worker. */
given filesForTask: Files[Task] = Files.forAsync
