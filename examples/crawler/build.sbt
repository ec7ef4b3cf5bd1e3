scalaVersion := "3.8.4"

libraryDependencies +=
  "io.github.weir-scala" %% "weir-core" % sys.env.getOrElse("WEIR_VERSION", "0.1.0")

run / fork := true // a process of its own: Ctrl-C cancels the program, not sbt
