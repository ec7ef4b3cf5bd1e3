package weir.rules

import java.nio.file.{Files, Path}

/** The files of the project, for tests that read them. */
object Checkout:

  /** The root of the checkout: sbt starts the tests of a module in the module's own folder. */
  lazy val root: Path =
    Iterator
      .iterate(Path.of("").toAbsolutePath)(_.getParent)
      .takeWhile(_ ne null)
      .find(folder => Files.isRegularFile(folder.resolve("build.sbt")))
      .getOrElse(
        throw IllegalStateException(
          s"There is no build.sbt in ${Path.of("").toAbsolutePath} or above it. " +
            "Run this test in a checkout."
        )
      )
