package weir.rules

import scala.tasty.inspector.{Inspector, TastyInspector}

/** Reads the typed trees of a module: the TASTy files beside its class files. They say what class
  * files do not: which members are `private[weir]`, and what the code says before inlining.
  */
private[rules] object Scala3Files:

  def inspect(module: CompiledModule)(inspector: Inspector): Unit =
    val classPath = System.getProperty("java.class.path").split(java.io.File.pathSeparator).toList
    val read = TastyInspector.inspectAllTastyFiles(
      tastyFiles = Nil,
      jars = List(module.location.toString),
      dependenciesClasspath = classPath
    )(inspector)
    require(read, s"The TASTy files of ${module.location} could not be read.")
