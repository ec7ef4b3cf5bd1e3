package weir.lab

import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters.*

/** The processes that this program has started. None of them may outlive it. */
private[lab] object Children:
  private val running = ConcurrentHashMap.newKeySet[Process]()
  Runtime.getRuntime.addShutdownHook(Thread(() => running.asScala.foreach(kill)))

  /** The JVM that runs this program. */
  def java: String = Path.of(sys.props("java.home"), "bin", "java").toString

  def start(builder: ProcessBuilder): Process =
    val process = builder.start()
    running.add(process)
    process

  /** Kills it, with all that it has started, if it has not ended by itself. */
  def end(process: Process): Unit =
    kill(process)
    val _ = running.remove(process)

  /** Kills it with all that it has started; it does not wait for their end. */
  def kill(process: Process): Unit =
    val below = process.descendants.toList
    val _ = process.destroyForcibly()
    below.forEach(child => child.destroyForcibly(): Unit)
