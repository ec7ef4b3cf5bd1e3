scalaVersion := "3.8.4"

libraryDependencies ++= Seq(
  "io.github.weir-scala" %% "weir-fs2" % sys.env.getOrElse("WEIR_VERSION", "0.1.0"),
  "org.http4s" %% "http4s-ember-server" % "0.23.34",
  "org.http4s" %% "http4s-dsl" % "0.23.34",
  "org.http4s" %% "http4s-ember-client" % "0.23.34",
  "org.tpolecat" %% "doobie-core" % "1.0.0-RC12",
  "com.h2database" % "h2" % "2.4.240",
  "org.slf4j" % "slf4j-nop" % "2.0.17"
)

// Warns of a task that is made and not run.
scalacOptions ++= Seq("-Wvalue-discard", "-Wnonunit-statement")

run / fork := true // a process of its own: Ctrl-C cancels the program, not sbt
// The library of Scala itself uses sun.misc.Unsafe, which JDK 25 warns about.
run / javaOptions += "--sun-misc-unsafe-memory-access=allow"
