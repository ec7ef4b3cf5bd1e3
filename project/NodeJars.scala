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
