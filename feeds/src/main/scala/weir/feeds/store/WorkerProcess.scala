package weir.feeds.store

import java.net.InetAddress
import java.nio.file.{Files, Path}
import scala.util.Try

/** A process as others see it.
  *
  * @param machine
  *   differs wherever the numbers of processes mean something else
  */
final case class WorkerProcess(name: String, machine: String, pid: Long)

object WorkerProcess:
  /** This process. */
  lazy val current: WorkerProcess =
    val pid = ProcessHandle.current().pid()
    val host = Try(InetAddress.getLocalHost.getHostName).getOrElse("localhost")
    WorkerProcess(s"$host/$pid", machine(host), pid)

  /** Returns true if there is a process of this number on this machine. */
  def isAlive(pid: Long): Boolean = ProcessHandle.of(pid).map(_.isAlive).orElse(false)

  /** Two containers may have one name; the kernel's names for the boot and for the space of numbers
    * are theirs alone.
    */
  private def machine(host: String): String =
    val kernel = for
      boot <- Try(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim)
      space <- Try(Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString)
    yield s"$boot $space"
    kernel.getOrElse(host)
