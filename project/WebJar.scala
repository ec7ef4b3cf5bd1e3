import sbt._

/** Takes one file out of a WebJar, so that the program need not carry all that the jar holds. */
object WebJar {

  /** Writes the file that ends with `path` in the jar `name` of `jars` to `to`. */
  def file(jars: Seq[File], name: String, path: String, to: File): File = {
    val jar = jars
      .find(_.getName.startsWith(name + "-"))
      .getOrElse(sys.error(s"there is no jar $name on the class path"))
    if (!to.exists || to.lastModified < jar.lastModified) IO.withTemporaryDirectory { folder =>
      IO.unzip(jar, folder, (entry: String) => entry.endsWith(path)).toList match {
        case List(one) => IO.move(one, to); to.setLastModified(System.currentTimeMillis)
        case found => sys.error(s"$jar holds ${found.size} files that end with $path, not one")
      }
    }
    to
  }
}
