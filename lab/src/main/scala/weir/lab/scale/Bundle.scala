package weir.lab.scale

import java.io.{File, IOException, PrintWriter, StringWriter}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions
import java.util.Comparator
import java.util.spi.ToolProvider
import java.util.zip.{CRC32, ZipEntry, ZipFile, ZipOutputStream}
import scala.jdk.CollectionConverters.*
import scala.util.Using

import weir.lab.Children
import weir.program.{BadInput, ResultFile, StagedJars}

/** All that `weir scale` needs on another machine, in one file: a JDK, the jars and a script.
  *
  * Nothing in it is compressed but the file itself: that is the smallest, since what many classes
  * have in common is compressed once.
  */
private[lab] object Bundle:
  /** The folder in the file. */
  val folder = "weir-scale"

  /** The file is no larger, as a test says. */
  val mostBytes: Long = 60_000_000

  /** The modules of the JDK that the program, its JVMs and the libraries of the rows use. */
  private val modules = Seq(
    "java.base",
    "java.logging",
    "java.management",
    "java.naming",
    "java.sql",
    "java.xml",
    "jdk.jfr",
    "jdk.management",
    "jdk.unsupported"
  )

  /** The jars that are needed, by the beginnings of their names. */
  private val jars = Seq(
    // the program
    "weir-program_",
    "weir-lab_",
    "weir-core_",
    "weir-postgres_", // hides secrets in messages
    "picocli-",
    "ujson_",
    "upickle-core_",
    "geny_",
    "scala-library-",
    "scala3-library_",
    // the rows and the rivals
    "weir-bench_",
    "cats-core_",
    "cats-kernel_",
    "cats-mtl_",
    "cats-effect",
    "fs2-core_",
    "scodec-bits_",
    "zio_",
    "zio-streams_",
    "zio-stacktracer_",
    "zio-internal-macros_",
    "izumi-reflect",
    "pekko-actor_",
    "pekko-stream_",
    "config-",
    "reactive-streams-",
    "slf4j-api-",
    "slf4j-nop-"
  )

  /** Makes the bundle of this program, and says how large it is.
    *
    * **Fails** with [[BadInput]] where it cannot be made, and with [[ResultFile.NotWritten]].
    */
  def write(file: Path, out: PrintWriter): Unit =
    if !isLinux then
      throw BadInput("--bundle", s"this is ${sys.props("os.name")}.", "Make it on Linux.")
    val work = Files.createTempDirectory("weir-bundle")
    try
      val root = Files.createDirectory(work.resolve(folder))
      link(root.resolve("jdk"))
      copyJars(root.resolve("bench"))
      script(root.resolve("run.sh"))
      Files.writeString(root.resolve("commit.txt"), s"commit: $commit\n"): Unit
      pack(work, file)
    finally Files.walk(work).sorted(Comparator.reverseOrder).forEach(Files.delete)
    out.println(
      s"$file: ${Files.size(file) / 1_000_000} MB, for $platform with glibc. There: " +
        s"tar -xzf ${file.getFileName}; $folder/run.sh [MINUTES] [FOLDER]"
    )

  private def isLinux: Boolean = sys.props("os.name") == "Linux"

  private def platform: String = s"${sys.props("os.name")} on ${sys.props("os.arch")}"

  private def commit: String = sys.props.getOrElse("weir.commit", "unknown")

  /** A JDK with those modules alone. */
  private def link(to: Path): Unit =
    val said = StringWriter()
    val writer = PrintWriter(said)
    val linker = ToolProvider.findFirst("jlink")
    def bad(problem: String) =
      throw BadInput("--bundle", problem, "Start weir with another JDK, such as Temurin 25.")
    if linker.isEmpty then bad(s"the JDK ${sys.props("java.home")} has no jlink.")
    val code = linker.get.run(
      writer,
      writer,
      "--add-modules",
      modules.mkString(","),
      "--strip-java-debug-attributes", // not --strip-debug, which needs binutils
      "--no-header-files",
      "--no-man-pages",
      "--output",
      to.toString
    )
    if code != 0 then bad(s"jlink made no JDK (${said.toString.linesIterator.mkString(" ").trim}).")

  /** As the build lays out a set of jars, so that [[StagedJars.bench]] finds them. */
  private def copyJars(to: Path): Unit =
    val lib = Files.createDirectories(to.resolve("lib"))
    val found = needed(
      sys.props("java.class.path") + File.pathSeparator + StagedJars.bench.classPath
    )
    found.foreach(jar => repack(jar, lib.resolve(jar.getFileName.toString)))
    val names = found.map(jar => s"${jar.getFileName}\n").mkString
    Files.writeString(to.resolve("classpath"), names): Unit

  /** Returns the jars of a class path that are in [[jars]], each once, since the modules of this
    * build may be there twice, with different names. It leaves out jars of tests.
    */
  private[scale] def needed(classPath: String): Vector[Path] =
    val all = classPath.split(File.pathSeparatorChar).toVector.map(Path.of(_))
    val here = all.filter: jar =>
      val name = jar.getFileName.toString
      jars.exists(name.startsWith) && !name.endsWith("-tests.jar")
    jars.foreach: name =>
      if !here.exists(_.getFileName.toString.startsWith(name)) then
        throw BadInput("--bundle", s"there is no jar $name*.", "Start the program with ./weir.")
    here.distinctBy(artifactOf)

  /** Returns the name of a jar without its version; a digit begins that. */
  private def artifactOf(jar: Path): String =
    val name = jar.getFileName.toString
    "-[0-9]".r.findFirstMatchIn(name).fold(name)(version => name.take(version.start))

  /** A copy that is not compressed, and without what only the compiler reads. */
  private def repack(jar: Path, to: Path): Unit =
    Using.resources(ZipFile(jar.toFile), ZipOutputStream(Files.newOutputStream(to))): (from, zip) =>
      from.stream.iterator.asScala
        .filterNot(entry => entry.isDirectory || entry.getName.endsWith(".tasty"))
        .foreach: entry =>
          val bytes = from.getInputStream(entry).readAllBytes()
          zip.putNextEntry(stored(entry.getName, bytes))
          zip.write(bytes)
          zip.closeEntry()

  private def stored(name: String, bytes: Array[Byte]): ZipEntry =
    val checksum = CRC32()
    checksum.update(bytes)
    val entry = ZipEntry(name)
    entry.setMethod(ZipEntry.STORED)
    entry.setSize(bytes.length)
    entry.setCrc(checksum.getValue)
    entry.setTime(0) // the same bytes each time
    entry

  private def script(to: Path): Unit =
    val template =
      Using.resource(getClass.getResourceAsStream("run.sh"))(in => String(in.readAllBytes(), UTF_8))
    val text = template.replace("@COMMIT@", commit).replace("@PLATFORM@", platform)
    Files.writeString(to, text): Unit
    Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x")): Unit

  /** Packs the folder in `work`; only a whole file takes the place of `file`. */
  private def pack(work: Path, file: Path): Unit =
    val packed = work.resolve("bundle.tar.gz")
    val command = Seq("tar", "-czf", packed.toString, "-C", work.toString, folder)
    val process = Children.start(ProcessBuilder(command*).redirectErrorStream(true))
    try
      val said = String(process.getInputStream.readAllBytes(), UTF_8)
      if process.waitFor() != 0 then throw IOException(said.linesIterator.mkString(" "))
    finally Children.end(process)
    ResultFile("--bundle", file).copyOf(packed)
