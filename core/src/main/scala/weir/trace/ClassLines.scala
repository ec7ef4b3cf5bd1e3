package weir.trace

import java.lang.classfile.{Attributes, ClassFile, MethodModel}
import java.util.HashMap

/** The lines at which the methods of a class begin, read from its class file.
  *
  * A `ClassValue` keeps it with the class. It consists only of strings and numbers, so it is
  * collected with the class.
  */
private[trace] final class ClassLines private (
    className: String,
    source: String | Null,
    lines: HashMap[String, Integer]
):

  /** Returns the first line of the first of `methods` that the class has. If it has none, only the
    * file is known.
    */
  def at(methods: String*): StackTraceElement =
    methods.find(lines.containsKey) match
      case Some(method) =>
        StackTraceElement(className, method.replace("$adapted", ""), source, lines.get(method))
      case None =>
        StackTraceElement(className, methods.headOption.getOrElse("apply"), source, -1)

private[trace] object ClassLines:
  private val ofClass = new ClassValue[ClassLines]:
    override def computeValue(of: Class[?]): ClassLines =
      try read(of)
      catch case _: Exception => new ClassLines(of.getName, null, HashMap())

  def of(read: Class[?]): ClassLines = ofClass.get(read)

  private def read(of: Class[?]): ClassLines =
    val path = "/" + of.getName.replace('.', '/') + ".class"
    val stream = of.getResourceAsStream(path)
    if stream eq null then new ClassLines(of.getName, null, HashMap())
    else
      val bytes =
        try stream.readAllBytes()
        finally stream.close()
      val model = ClassFile.of().parse(bytes)
      val file = model.findAttribute(Attributes.sourceFile())
      val lines = HashMap[String, Integer]()
      model.methods.forEach { method =>
        val line = firstLine(method)
        if line > 0 then lines.merge(method.methodName.stringValue, line, Math.min(_, _)): Unit
      }
      new ClassLines(
        of.getName,
        if file.isPresent then file.get.sourceFile.stringValue else null,
        lines
      )

  /** Returns the line of the method's first instruction, at which its body begins; 0 if it has no
    * line.
    */
  private def firstLine(method: MethodModel): Int =
    var line = 0
    method.code.ifPresent { code =>
      code.elementStream
        .filter(_.isInstanceOf[java.lang.classfile.instruction.LineNumber])
        .findFirst
        .ifPresent { first =>
          line = first.asInstanceOf[java.lang.classfile.instruction.LineNumber].line
        }
    }
    line
