import sbt._
import sbt.io.Hash

/** The jars of Kafka's broker as files in the published jar of `weir-kafka-broker`. */
object NodeJars {
  private val in = "weir/kafka/broker/jars"

  /** Returns each jar with its place, and a file whose lines are the hash of all and their names.
    */
  def places(jars: Seq[File], index: File): Seq[(File, String)] = {
    val hash = Hash.toHex(Hash(jars.map(jar => Hash.toHex(Hash(jar))).mkString)).take(12)
    IO.writeLines(index, hash +: jars.map(_.getName))
    jars.map(jar => jar -> s"$in/${jar.getName}") :+ (index -> s"$in/index")
  }

  /** The list of the jars with their licences, in the published jar. */
  val thirdParty = "META-INF/THIRD-PARTY"

  /** Writes that list to `to`: a line for each of `jars` that is from a Maven repository, with the
    * licences that its POM names, or a parent of its POM. The build fails if there are none.
    */
  def licences(jars: Seq[File], report: UpdateReport, to: File): File = {
    val modules = for {
      module <- report.configuration(Runtime).toSeq.flatMap(_.modules)
      (_, jar) <- module.artifacts if jars.contains(jar)
    } yield jar -> module
    val lines = modules.map { case (jar, module) =>
      if (module.licenses.isEmpty)
        sys.error(s"The POM of ${module.module} names no licence, which $thirdParty has to name.")
      val licences = module.licenses.map { case (name, url) => (name +: url.toSeq).mkString(", ") }
      s"${jar.getName}: ${licences.mkString("; ")}"
    }
    val head = s"""The folder $in has these jars of others, unchanged. Each has the
                  |licence that follows its name, as its POM on Maven Central says. All else in this
                  |jar is Weir's: its licence is ${JarLicences.place}.
                  |""".stripMargin
    IO.writeLines(to, head +: lines.distinct.sorted)
    to
  }

  /** Returns a jar with the classes of another one, and these files. */
  def added(classes: File, files: Seq[(File, String)], to: File): File = {
    val needed = classes +: files.map(_._1)
    if (!to.exists || needed.exists(_.lastModified > to.lastModified))
      IO.withTemporaryDirectory { unpacked =>
        IO.unzip(classes, unpacked)
        val own = Path.allSubpaths(unpacked).filter(_._1.isFile).toSeq
        IO.zip(own ++ files, to, time = Some(0L))
      }
    to
  }
}
