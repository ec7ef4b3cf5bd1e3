import java.lang.classfile.ClassFile._
import java.lang.classfile._
import java.lang.classfile.instruction.InvokeDynamicInstruction
import java.lang.constant._
import java.net.URLClassLoader
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.util.zip.{ZipEntry, ZipFile, ZipOutputStream}
import scala.collection.JavaConverters._

import sbt._

/** Rewrites the classes of jars so that the start-up cache of the JVM can hold all of them.
  *
  * The cache of JDK 25 has no classes of Java 5, as picocli's are, and no function that
  * `altMetafactory` makes, which Scala's all are, since they can be serialized. A JVM would parse
  * and verify the former at each start, and generate a class for each of the latter: half of the
  * processor time of a start. Nothing that the launcher starts serializes a function, nor calls one
  * by reflection, which the bridges are for.
  */
final class StartClasses(jars: Seq[File]) {
  private val loader =
    new URLClassLoader(jars.map(_.toURI.toURL).toArray, ClassLoader.getPlatformClassLoader)
  private val hierarchy = ClassHierarchyResolver
    .ofResourceParsing(loader)
    .orElse(ClassHierarchyResolver.defaultResolver)
    .cached()

  /** Writes the jar, with its classes rewritten, to `target`. */
  def write(jar: File, target: Path): Unit = {
    val from = new ZipFile(jar)
    try {
      val entries = from.entries.asScala.toList
      val contents = entries.map(entry => from.getInputStream(entry).readAllBytes())
      val rewritten = entries.zip(contents).map { case (entry, content) =>
        val isClass = entry.getName.endsWith(".class") && !entry.getName.startsWith("META-INF")
        if (isClass) rewrittenClass(content) else content
      }
      if (rewritten.corresponds(contents)(_ eq _)) Files.copy(jar.toPath, target)
      else pack(entries.map(_.getName).zip(rewritten), target)
    } finally from.close()
  }

  private def pack(files: List[(String, Array[Byte])], target: Path): Unit = {
    val to = new ZipOutputStream(Files.newOutputStream(target))
    try
      for ((name, content) <- files) {
        to.putNextEntry(new ZipEntry(name))
        to.write(content)
      }
    finally to.close()
  }

  private def rewrittenClass(bytes: Array[Byte]): Array[Byte] = {
    val isOld = bytes(7) < JAVA_6_VERSION // the last byte of the version
    val hasFunctions = new String(bytes, ISO_8859_1).contains("altMetafactory")
    if (!isOld && !hasFunctions) bytes
    else {
      val stackMaps =
        if (isOld) StackMapsOption.GENERATE_STACK_MAPS else StackMapsOption.STACK_MAPS_WHEN_REQUIRED
      val file = ClassFile.of(stackMaps, ClassHierarchyResolverOption.of(hierarchy))
      val functions = ClassTransform.transformingMethodBodies(StartClasses.plainFunctions)
      val all = if (isOld) functions.andThen(StartClasses.newer) else functions
      file.transformClass(file.parse(bytes), all)
    }
  }

  def close(): Unit = loader.close()
}

object StartClasses {

  /** Is in the names of the jars that are rewritten: changes when their content would. */
  val version = "s1"

  private val markers = 2 // `LambdaMetafactory.FLAG_MARKERS`: other interfaces, which it must have

  private val newer: ClassTransform = (builder, element) =>
    element match {
      case _: ClassFileVersion => builder.withVersion(JAVA_8_VERSION, 0)
      case _ => builder.`with`(element)
    }

  /** Has functions made by `metafactory`, without a serial form and without bridges. */
  private val plainFunctions: CodeTransform = (builder, element) =>
    element match {
      case call: InvokeDynamicInstruction if isAlternative(call) =>
        val made = call.bootstrapMethod
        val plain = MethodHandleDesc.ofMethod(
          DirectMethodHandleDesc.Kind.STATIC,
          made.owner,
          "metafactory",
          metafactory
        )
        val arguments = call.bootstrapArgs.asScala.take(3)
        builder.invokedynamic(
          DynamicCallSiteDesc.of(plain, call.name.stringValue, call.typeSymbol, arguments: _*)
        )
      case _ => builder.`with`(element)
    }

  private def isAlternative(call: InvokeDynamicInstruction): Boolean =
    call.bootstrapMethod.methodName == "altMetafactory" &&
      (call.bootstrapArgs.get(3) match {
        case flags: Integer => (flags & markers) == 0
        case _ => false
      })

  private val metafactory = MethodTypeDesc.of(
    ConstantDescs.CD_CallSite,
    ConstantDescs.CD_MethodHandles_Lookup,
    ConstantDescs.CD_String,
    ConstantDescs.CD_MethodType,
    ConstantDescs.CD_MethodType,
    ConstantDescs.CD_MethodHandle,
    ConstantDescs.CD_MethodType
  )
}
