package weir
package japi

import java.io.{ByteArrayOutputStream, PrintStream}
import java.net.{URI, URLClassLoader}
import java.nio.file.{Files, Path}
import java.util.Locale
import javax.tools.{DiagnosticCollector, JavaFileObject, SimpleJavaFileObject, ToolProvider}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

/** The Java code of docs/coming-from-java.md: compiled by javac as one class, and run block by
  * block. The comment of a line is its output: `println(x); // 42`. Imports are those of the whole
  * page. A block that begins with `static` is a member of the class, every other one a method.
  */
class JavaPageSuite extends WeirSuite:
  override def limit: FiniteDuration = 60.seconds

  private val page = Iterator
    .iterate(Path.of("").toAbsolutePath)(_.getParent)
    .takeWhile(_ != null)
    .map(_.resolve("docs/coming-from-java.md"))
    .find(Files.exists(_))
    .get

  private val blocks: List[String] =
    Files.readString(page).split("\n```java\n").toList.tail.map(_.split("\n```").head)

  private val statements = blocks.filterNot(isMember).filterNot(_.startsWith("import"))
  private def isMember(block: String) = block.startsWith("static ")

  private def pageClass: String =
    val imports = blocks.flatMap(_.linesIterator).filter(_.startsWith("import "))
    val methods = statements.zipWithIndex.map((block, i) =>
      s"public static void block$i() throws Exception {\n$block\n}"
    )
    (imports ++ Seq("public class Page {") ++ blocks.filter(isMember) ++ methods ++ Seq("}"))
      .mkString("\n")

  /** Compiles a class called `name` into `folder`, from its `code`, and returns the messages of
    * javac.
    */
  private def compile(name: String, code: String, folder: Path): List[String] =
    val compiler = ToolProvider.getSystemJavaCompiler.nn
    val source = new SimpleJavaFileObject(URI(s"mem:///$name.java"), JavaFileObject.Kind.SOURCE):
      override def getCharContent(ignoreErrors: Boolean): CharSequence = code
    val messages = DiagnosticCollector[JavaFileObject]()
    val options =
      List("-cp", System.getProperty("java.class.path"), "-d", folder.toString, "-proc:none")
    compiler.getTask(null, null, messages, options.asJava, null, List(source).asJava).call(): Unit
    messages.getDiagnostics.asScala.toList.map(m =>
      s"${m.getKind} ${m.getLineNumber}: ${m.getMessage(Locale.ENGLISH)}"
    )

  private def inFolder[A](body: Path => A): A =
    val folder = Files.createTempDirectory("weir-java-page")
    try body(folder)
    finally Stream.deleteAll(folder)

  private object Stream:
    def deleteAll(folder: Path): Unit =
      val all = Files.walk(folder)
      try all.toList.asScala.reverse.foreach(Files.delete)
      finally all.close()

  private def printed(body: => Unit): String =
    val bytes = ByteArrayOutputStream()
    val before = System.out
    System.setOut(PrintStream(bytes, true))
    try body
    finally System.setOut(before)
    bytes.toString

  test("the code of the page compiles, and prints what it says"):
    inFolder { folder =>
      assertEquals(compile("Page", pageClass, folder).filter(_.startsWith("ERROR")), Nil)
      val loader = URLClassLoader(Array(folder.toUri.toURL), getClass.getClassLoader)
      val compiled = loader.loadClass("Page")
      assert(statements.size > 10, s"only ${statements.size} blocks")
      for (block, i) <- statements.zipWithIndex do
        val said = block.linesIterator.collect {
          case s"${_}println(${_}; // $text" => text
          case s"${_}.runSync(); // $text" => text
        }.toList
        val actual = printed(compiled.getMethod(s"block$i").invoke(null): Unit)
        assertEquals(actual.linesIterator.toList, said, s"in this block:\n$block")
    }

  private def inMain(statement: String): List[String] = inFolder(folder =>
    compile(
      "Main",
      s"""import java.time.Duration;
         |class Main {
         |  public static void main(String[] args) throws Exception { $statement }
         |}""".stripMargin,
      folder
    ).filter(_.startsWith("ERROR"))
  )

  test("println of the result of a static method is ambiguous, that of the task's own is not"):
    val statics = inMain(
      "weir.Task<Integer> t = weir.japi.Tasks.of(() -> 20);" +
        "System.out.println(weir.japi.Tasks.runSync(" +
        "weir.japi.Tasks.timeout(t.map(n -> n + 1), Duration.ofSeconds(1))));"
    )
    assert(statics.exists(_.contains("ambiguous")), statics.toString)
    val own = inMain(
      "weir.japi.Task<Integer> t = weir.japi.Task.of(() -> 20);" +
        "System.out.println(t.map(n -> n + 1).timeout(Duration.ofSeconds(1)).runSync());"
    )
    assertEquals(own, Nil)
