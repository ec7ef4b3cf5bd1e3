package weir.kafka.broker

import java.io.{File, IOException}
import java.nio.file.{Files, Path, StandardCopyOption}
import scala.io.Source
import scala.util.Using

/** The jars of Kafka's broker, which are files in the jar of this artifact: on the class path of
  * its user they would change the versions of other libraries.
  */
private[broker] object BrokerJars:
  private val in = "weir/kafka/broker/jars"

  /** Returns the class path. **Fails** with an `IOException` if this was not read from the
    * published artifact.
    *
    * The jars are unpacked once for each version: under another name, and then moved into place. So
    * what has that name is complete, and of several processes that unpack them, one wins.
    */
  def classPath(
      parent: Path = Path.of(sys.props("user.home"), ".cache", "weir"),
      loader: ClassLoader = getClass.getClassLoader
  ): String =
    val lines = index(loader)
    val folder = parent.resolve(s"kafka-broker-${lines.head}")
    if !Files.isDirectory(folder) then unpack(lines.tail, folder, loader)
    lines.tail.map(folder.resolve(_).toString).mkString(File.pathSeparator)

  /** The hash of the jars, and their names. */
  private def index(loader: ClassLoader): Vector[String] =
    val found = loader.getResource(s"$in/index")
    if found == null then
      throw IOException(
        "the jars of Kafka's broker are missing: they are only in the published artifact " +
          "weir-kafka-broker. Take that one, or give BrokerSettings a classPath."
      )
    Using.resource(Source.fromInputStream(found.openStream()))(_.getLines().toVector)

  private def unpack(names: Vector[String], folder: Path, loader: ClassLoader): Unit =
    val part = Files.createTempDirectory(Files.createDirectories(folder.getParent), ".part-")
    try
      names.foreach { name =>
        Using.resource(loader.getResourceAsStream(s"$in/$name"))(
          Files.copy(_, part.resolve(name))
        )
      }
      try Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE): Unit
      catch case _: IOException if Files.isDirectory(folder) => ()
    finally if Files.exists(part) then delete(part)

  /** Deletes what it can. Another process may delete it too. */
  def delete(folder: Path): Unit =
    def delete(file: File): Unit =
      Option(file.listFiles).foreach(_.foreach(delete))
      file.delete(): Unit
    delete(folder.toFile)
