package weir.kafka.broker

import java.io.{File, IOException}
import java.nio.file.attribute.{PosixFileAttributeView, PosixFilePermission, PosixFilePermissions}
import java.nio.file.{Files, Path, StandardCopyOption}
import scala.concurrent.duration.*
import scala.io.Source
import scala.util.Using

/** The jars of Kafka's broker, which are files in the jar of this artifact: on the class path of
  * its user they would change the versions of other libraries.
  */
private[broker] object BrokerJars:
  private val in = "weir/kafka/broker/jars"
  private val part = ".part-"

  /** A part that is older belongs to a process that was killed. */
  private val longestUnpacking = 1.day

  /** The folder `.cache/weir` of the user, or that of the property `weir.broker.cache`. */
  private def cache: Path = sys.props.get("weir.broker.cache") match
    case Some(folder) => Path.of(folder)
    case None => Path.of(sys.props("user.home"), ".cache", "weir")

  /** Returns the class path. **Fails** with an `IOException` if this was not read from the
    * published artifact, or if others could have written the jars.
    *
    * Those jars that are not there are unpacked, each under another name, and then moved into
    * place. So a jar that has its name is complete, and several processes may do this at once.
    */
  def classPath(parent: Path = cache, loader: ClassLoader = getClass.getClassLoader): String =
    val lines = index(loader)
    val folder = parent.resolve(s"kafka-broker-${lines.head}")
    if Files.exists(folder) then check(folder) else create(folder)
    val jars = lines.tail.map(name => name -> folder.resolve(name))
    val missing = jars.filterNot((_, jar) => Files.isRegularFile(jar))
    if missing.nonEmpty then
      deleteOldParts(folder)
      missing.foreach((name, jar) => unpack(name, jar, loader))
    jars.map((_, jar) => jar.toString).mkString(File.pathSeparator)

  /** The hash of the jars, and their names. */
  private def index(loader: ClassLoader): Vector[String] =
    val found = loader.getResource(s"$in/index")
    if found == null then
      throw IOException(
        "the jars of Kafka's broker are missing: they are only in the published artifact " +
          "weir-kafka-broker. Take that one, or give BrokerSettings a classPath."
      )
    Using.resource(Source.fromInputStream(found.openStream()))(_.getLines().toVector)

  private def create(folder: Path): Unit =
    Files.createDirectories(folder.getParent): Unit
    val made = Files.createTempDirectory(folder.getParent, part) // for its user alone
    try Files.move(made, folder, StandardCopyOption.ATOMIC_MOVE): Unit
    catch
      case _: IOException if Files.isDirectory(folder) => // another process was faster
        Files.delete(made)
        check(folder)

  /** The jars are run as code of the user. */
  private def check(folder: Path): Unit =
    val view = Files.getFileAttributeView(folder, classOf[PosixFileAttributeView])
    if view != null then // not on Windows
      val found = view.readAttributes()
      val owner = found.owner.getName
      val permissions = found.permissions
      val user = ProcessHandle.current.info.user.orElse(owner)
      val isSafe = (owner == user || owner == "root") &&
        !permissions.contains(PosixFilePermission.GROUP_WRITE) &&
        !permissions.contains(PosixFilePermission.OTHERS_WRITE)
      if !isSafe then
        throw IOException(
          s"the folder $folder has jars to run, and belongs to $owner, with the permissions " +
            s"${PosixFilePermissions.toString(permissions)}. It must belong to $user or root, " +
            "and only its owner may write there. Delete it, or name another folder by " +
            "-Dweir.broker.cache."
        )

  private def unpack(name: String, jar: Path, loader: ClassLoader): Unit =
    val unpacked = Files.createTempFile(jar.getParent, part, "")
    try
      Using.resource(loader.getResourceAsStream(s"$in/$name"))(
        Files.copy(_, unpacked, StandardCopyOption.REPLACE_EXISTING)
      ): Unit
      Files.move(unpacked, jar, StandardCopyOption.ATOMIC_MOVE): Unit
    finally Files.deleteIfExists(unpacked): Unit

  private def deleteOldParts(folder: Path): Unit =
    val oldest = System.currentTimeMillis - longestUnpacking.toMillis
    for
      parent <- Vector(folder, folder.getParent)
      file <- Option(parent.toFile.listFiles).iterator.flatten
      if file.getName.startsWith(part) && file.lastModified < oldest
    do delete(file.toPath)

  /** Deletes what it can. Another process may delete it too. */
  def delete(folder: Path): Unit =
    def delete(file: File): Unit =
      Option(file.listFiles).foreach(_.foreach(delete))
      file.delete(): Unit
    delete(folder.toFile)
