scalaVersion := "3.8.4"

libraryDependencies +=
  "io.github.weir-scala" %% "weir-core" % sys.env.getOrElse("WEIR_VERSION", "0.1.0")

// Warns of a task that is made and not run.
scalacOptions ++= Seq("-Wvalue-discard", "-Wnonunit-statement")

run / fork := true // a process of its own: Ctrl-C cancels the program, not sbt
