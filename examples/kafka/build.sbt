scalaVersion := "3.8.4"

val weir = sys.env.getOrElse("WEIR_VERSION", "0.1.0")

libraryDependencies ++= Seq(
  "io.github.weir-scala" %% "weir-kafka" % weir,
  "io.github.weir-scala" %% "weir-kafka-broker" % weir % Test,
  "org.scalameta" %% "munit" % "1.3.0" % Test,
  "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
)

// Warns of a task that is made and not run.
scalacOptions ++= Seq("-Wvalue-discard", "-Wnonunit-statement")

Test / fork := true
// The library of Scala itself uses sun.misc.Unsafe, which JDK 25 warns about.
Test / javaOptions += "--sun-misc-unsafe-memory-access=allow"
