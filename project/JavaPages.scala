import java.io.{PrintWriter, StringWriter}
import java.lang.reflect.{Method, Modifier, Type, TypeVariable}
import java.net.URLClassLoader
import java.util.spi.ToolProvider

import sbt._

/** Makes Javadoc of the API for Java, which is written in Scala: for javadoc.io, and for editors,
  * which show the pages of a class from the jar of an artifact's documentation.
  *
  * The signatures are those of the class files, so they are what javac sees; the comments are those
  * of the sources. Both become a source file of Java for each class, without code, which the tool
  * `javadoc` reads. The pages take the place of scaladoc's for that package.
  */
object JavaPages {

  /** Adds the pages of `packageName` to the folder `to`. */
  def add(to: File, sources: Seq[File], classPath: Seq[File], packageName: String): Unit =
    IO.withTemporaryDirectory { work =>
      val loader = new URLClassLoader(classPath.map(_.toURI.toURL).toArray, null)
      val files =
        try
          for {
            (name, comments) <- sources.flatMap(Comments.of).groupBy(_.owner).toSeq
            text = new Stub(loader.loadClass(s"$packageName.$name"), comments).text
          } yield {
            val file = work / "sources" / packageName.replace('.', '/') / s"$name.java"
            IO.write(file, s"package $packageName;\n\n$text")
            file
          }
        finally loader.close()
      val pages = work / "pages"
      val output = new StringWriter
      val writer = new PrintWriter(output)
      val arguments = Seq("-quiet", "-Xdoclint:none", "-notimestamp", "-d", pages.getPath) ++
        Seq("-classpath", classPath.mkString(java.io.File.pathSeparator)) ++ files.map(_.getPath)
      val code = ToolProvider.findFirst("javadoc").get.run(writer, writer, arguments: _*)
      if (code != 0) sys.error(s"javadoc ended with $code:\n$output")
      val added = Seq(packageName.replace('.', '/'), "resource-files", "script-files", "legal")
      added.foreach(part => IO.copyDirectory(pages / part, to / part, overwrite = true))
      IO.copyFile(pages / "element-list", to / "element-list")
    }
}

/** A comment of a public class or method.
  *
  * @param name
  *   the method's; that of the class for its own comment
  */
private final case class Comment(owner: String, name: String, isStatic: Boolean, text: String) {
  def form: (String, Boolean) = (name, isStatic)
}

private object Comments {
  private val definition =
    """( *)(?:final |abstract |override )*(class|trait|object|def|val) ([A-Za-z]+).*""".r
  private val hidden = """private.* (?:class|trait|object) .*""".r

  /** Returns the comments of a source file: without one, a public method has an empty one. */
  def of(source: File): Seq[Comment] = {
    var comment = Seq.empty[String]
    var isComment = false
    var owner = ""
    var isStatic = false
    IO.readLines(source).flatMap { line =>
      val code = line.trim
      if (code.startsWith("/**")) { isComment = true; comment = Nil }
      if (isComment) {
        comment =
          comment :+ code.stripPrefix("/**").stripSuffix("*/").stripPrefix("*").stripPrefix(" ")
        isComment = !code.endsWith("*/")
        Nil
      } else {
        val above = comment
        if (!code.startsWith("@")) comment = Nil
        line match {
          case definition("", kind, name) if kind != "def" && kind != "val" =>
            val isSecond = owner == name // the companion of the class above
            owner = name
            isStatic = kind == "object"
            if (isSecond && above.isEmpty) Nil
            else Seq(Comment(name, name, isStatic = false, html(above)))
          case hidden() => // nor are its members in the API
            owner = ""
            Nil
          case definition("  ", "def" | "val", name) if owner.nonEmpty =>
            Seq(Comment(owner, name, isStatic, html(above)))
          case _ => Nil
        }
      }
    }
  }

  /** Returns a scaladoc comment as Javadoc has it. */
  private def html(lines: Seq[String]): String = lines
    .map(_.trim)
    .mkString("\n")
    .trim
    .replace("&", "&amp;")
    .replace("<", "&lt;")
    .replace("@", "&#64;")
    .replaceAll("""(?s)\{\{\{(.*?)}}}""", "<pre>$1</pre>")
    .replaceAll("`([^`]+)`", "<code>$1</code>")
    .replaceAll("""\*\*([^*]+)\*\*""", "<b>$1</b>")
    .replaceAll("\n\n", "\n<p>\n")
}

/** A class as a source file of Java, without code. */
private final class Stub(of: Class[_], comments: Seq[Comment]) {
  def text: String = {
    val kind = if (of.isInterface) "public interface" else "public final class"
    val members =
      comments.filterNot(_.name == of.getSimpleName).groupBy(_.form).values.flatMap { alike =>
        // Of two forms of a method the one with fewer parameters comes first in the source.
        val methods = of.getDeclaredMethods.filter(fits(_, alike.head)).sortBy(_.getParameterCount)
        alike.zip(methods).map { case (comment, method) => doc(comment.text) + signature(method) }
      }
    val own = comments.find(_.name == of.getSimpleName).fold("")(_.text)
    val hidden = if (of.isInterface) "" else s"  private ${of.getSimpleName}() {}\n"
    s"${doc(own)}$kind ${of.getSimpleName}${variables(of.getTypeParameters)} {\n" +
      s"$hidden${members.toSeq.sorted.mkString("\n")}}\n"
  }

  private def fits(method: Method, comment: Comment): Boolean = {
    val flags = method.getModifiers
    method.getName == comment.name && Modifier.isPublic(flags) && !method.isSynthetic &&
    Modifier.isStatic(flags) == comment.isStatic
  }

  private def doc(text: String): String =
    if (text.isEmpty) "" else text.linesIterator.mkString("/**\n * ", "\n * ", "\n */\n")

  private def signature(method: Method): String = {
    val flags = Modifier.toString(method.getModifiers & (Modifier.PUBLIC | Modifier.STATIC))
    val names = named(method).getParameters.map(_.getName)
    val from = method.getGenericParameterTypes.zip(names).map { case (tpe, name) =>
      s"${shown(tpe)} $name"
    }
    val errors = method.getGenericExceptionTypes.map(shown)
    val throws = if (errors.isEmpty) "" else errors.mkString(" throws ", ", ", "")
    val body = if (of.isInterface) ";" else " { throw null; }"
    s"$flags ${variables(method.getTypeParameters)} ${shown(method.getGenericReturnType)} " +
      s"${method.getName}(${from.mkString(", ")})$throws$body\n"
  }

  /** Returns the method that has the names of the parameters: a static one has them in the object's
    * class.
    */
  private def named(method: Method): Method =
    if (!Modifier.isStatic(method.getModifiers)) method
    else {
      val holder = of.getClassLoader.loadClass(s"${of.getName}$$")
      holder.getDeclaredMethod(method.getName, method.getParameterTypes: _*)
    }

  private def variables(all: Array[_ <: TypeVariable[_]]): String =
    if (all.isEmpty) ""
    else
      all
        .map { variable =>
          val bounds = variable.getBounds.toSeq.filterNot(_ == classOf[Object])
          variable.getName + (if (bounds.isEmpty) ""
                              else bounds.map(shown).mkString(" extends ", " & ", ""))
        }
        .mkString("<", ", ", ">")

  private def shown(tpe: Type): String = tpe.getTypeName.replace('$', '.')
}
