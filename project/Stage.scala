import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.concurrent.TimeUnit.DAYS

import sbt._
import sbt.io.Hash

/** Copies the program's jars to where the launcher `./weir` finds them. */
object Stage {

  /** Writes the jars to `lib/` and their names, a line each, to `classpath`.
    *
    * A name has the content's hash in it, so a build never changes a jar that a running program has
    * open. For the same reason the jars of older builds stay for a day.
    */
  def apply(jars: Seq[File], folder: File): Unit =
    stage(jars, folder, "")((jar, target) => Files.copy(jar.toPath, target))

  /** As `apply`, with the classes rewritten so that a JVM starts fast. */
  def forStart(jars: Seq[File], folder: File): Unit = {
    val classes = new StartClasses(jars)
    try stage(jars, folder, s"-${StartClasses.version}")(classes.write)
    finally classes.close()
  }

  private def stage(jars: Seq[File], folder: File, kind: String)(
      write: (File, Path) => Any
  ): Unit = {
    val lib = folder / "lib"
    IO.createDirectory(lib)
    val names = jars.map { jar =>
      val hash = Hash.toHex(Hash(jar)).take(12)
      val name = s"${jar.getName.stripSuffix(".jar")}-$hash$kind.jar"
      if (!(lib / name).exists) replace(lib / name)(write(jar, _))
      name
    }
    replace(folder / "classpath")(Files.writeString(_, names.mkString("", "\n", "\n")))
    val old = System.currentTimeMillis - DAYS.toMillis(1)
    IO.listFiles(lib)
      .filter(f => !names.contains(f.getName) && f.lastModified < old)
      .foreach(_.delete())
  }

  /** Writes a file under another name and moves it into place, so nobody sees half of it. */
  private def replace(file: File)(write: Path => Any): Unit = {
    val part = file.toPath.resolveSibling(file.getName + ".part")
    Files.deleteIfExists(part)
    write(part)
    Files.move(
      part,
      file.toPath,
      StandardCopyOption.ATOMIC_MOVE,
      StandardCopyOption.REPLACE_EXISTING
    )
  }
}
