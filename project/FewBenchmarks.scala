import java.io.File.pathSeparator
import javax.tools.ToolProvider

import sbt._

/** The JMH code of a few benchmarks, for the tests of the command that runs them. JMH makes 500
  * sources of all of them, which takes half a minute of a processor.
  */
object FewBenchmarks {

  /** Writes the jar `to`, unless it is newer than `classPath`.
    *
    * @param names
    *   the classes of the benchmarks, without their package
    * @param classPath
    *   the jars of JMH and of the benchmarks, that of the module first
    */
  def jar(names: Seq[String], classPath: Seq[File], to: File): File = {
    if (!to.exists || classPath.exists(_.lastModified > to.lastModified))
      IO.withTemporaryDirectory { folder =>
        val Seq(chosen, sources, made) = Seq("chosen", "sources", "made").map(folder / _)
        IO.createDirectories(Seq(chosen, sources, made))
        IO.unzip(classPath.head, chosen, (path: String) => names.exists(isOf(_, path)))
        val path = classPath.mkString(pathSeparator)
        val generator = "org.openjdk.jmh.generators.bytecode.JmhBytecodeGenerator"
        val folders = Seq(chosen, sources, made).map(_.getPath)
        ended(Fork.java(ForkOptions(), Seq("-cp", path, generator) ++ folders :+ "reflection"))
        val files = (sources ** "*.java").get().map(_.getPath)
        val options = Seq("-proc:none", "-cp", path, "-d", made.getPath)
        ended(ToolProvider.getSystemJavaCompiler.run(null, null, null, options ++ files: _*))
        IO.zip(Path.allSubpaths(made), to, None)
      }
    to
  }

  private def isOf(name: String, path: String): Boolean =
    path.matches(s".*/${java.util.regex.Pattern.quote(name)}([$$].*)?[.]class")

  private def ended(code: Int): Unit =
    if (code != 0) throw new MessageOnlyException("no JMH code of the benchmarks: see above")
}
