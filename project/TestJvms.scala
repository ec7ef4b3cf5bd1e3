import sbt._
import sbt.Keys._

/** The JVMs of tests: how many there are, what they start with, and how many run at a time.
  *
  * A module with tests has the `testSettings`, and where they are many, `inJvms`.
  */
object TestJvms extends AutoPlugin {
  override def trigger: PluginTrigger = allRequirements
  override def requires: Plugins = plugins.JvmPlugin

  // Two JVMs of tests for each processor, one of which waits: `Verify` has the tests of several
  // modules side by side. With more the whole takes as long, and what has short timeouts fails. One
  // more is for Kafka's tests, which wait nearly all the time.
  override def globalSettings: Seq[Setting[_]] = Seq(
    concurrentRestrictions := Seq(
      Tags.limitAll(2 * java.lang.Runtime.getRuntime.availableProcessors + 1),
      Tags.exclusiveGroup(Tags.Clean)
    )
  )

  object autoImport {

    /** The flags of a JVM that is over before the better compiler would pay. */
    val quickStart = Seq("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

    /** The packages that no other module may use, for the suites of `rules`. */
    val innerPackages = settingKey[Seq[String]]("The packages that are no API")

    /** The jar of a module that is published: its `packageBin`, but for that of Kafka's broker. */
    val publishedJar = taskKey[File]("The jar of a module that is published")

    /** Tests run in a JVM of their own for each module, one suite after the other. */
    lazy val testSettings: Seq[Setting[_]] = Seq(
      libraryDependencies ++= Seq(
        "org.scalameta" %% "munit" % "1.3.0" % Test,
        "org.scalameta" %% "munit-scalacheck" % "1.3.0" % Test
      ),
      Test / fork := true,
      Test / testListeners += Verify.clock(thisProject.value.id),
      Test / parallelExecution := false,
      // Ends a test that hangs, and names it.
      Test / unmanagedJars += Attributed.blank(
        (LocalProject("testLimit") / Compile / packageBin).value
      ),
      Test / testOptions +=
        Tests.Argument(TestFrameworks.MUnit, "--run-listener=weir.testlimit.TestLimit"),
      Test / javaOptions ++= sys.props.collect {
        case (key, value) if key.startsWith("weir.") => s"-D$key=$value"
      }.toSeq,
      Test / javaOptions += s"-Dweir.innerPackages=${innerPackages.value.mkString(",")}",
      // Libraries built with an older Scala use sun.misc.Unsafe, which JDK 25 warns about.
      Test / javaOptions += "--sun-misc-unsafe-memory-access=allow",
      // With the better compiler the tests would take a third more of the processors' time. Nor
      // have they much in their heap. Where time is plenty, the code runs as it does for users.
      Test / javaOptions ++= (if (Verify.isLong) Nil else "-Xmx1g" +: quickStart),
      Test / javaOptions ++= archivingForLater(testArchive.value),
      Test / javaOptions +=
        s"-Dweir.child=${(quickStart ++ archived(testArchive.value)).mkString(" ")}",
      // With folders in its class path a JVM has no archive.
      Test / fullClasspath := (Test / fullClasspathAsJars).value
    ) ++ ExampleProjects.moduleSettings

    /** The tests of a large module run in several JVMs side by side, each with its share of the
      * suites: they wait half of the time, for clocks, servers and other JVMs. Not so those of
      * Kafka and of other libraries: two brokers, or two servers, take longer to start than that
      * saves.
      */
    def inJvms(count: Int): Seq[Setting[_]] = Seq(
      Test / parallelExecution := true, // of the JVMs: each runs its suites one after the other
      Test / testForkedParallel := false,
      Test / testGrouping := {
        val options = (Test / forkOptions).value
        for ((share, part) <- Shares((Test / definedTests).value, count).zipWithIndex)
          yield Tests.Group(s"part $part", share, Tests.SubProcess(options))
      }
    )

    /** For tests that have much to do with databases and brokers. */
    lazy val filesInMemory: Setting[_] = Test / javaOptions ++= MemoryFolder.options

    /** The first JVM with these options that ends writes the archive, which takes it a second. */
    def archiving(file: File): Seq[String] = "-XX:+AutoCreateSharedArchive" +: fromArchive(file)

    /** For the next run of the tests, which a fresh checkout of continuous integration never sees.
      */
    def archivingForLater(file: File): Seq[String] =
      if (sys.env.get("CI").contains("true")) archived(file) else archiving(file)

    /** Writes the archive of a module's tests, where there is none of these jars, by running a
      * program.
      */
    def archiveOf(program: String*): Def.Initialize[Task[Unit]] = Def.task {
      val log = streams.value.log
      val jars = (Test / fullClasspathAsJars).value.files
      val file = testArchive.value
      if (!file.exists || jars.exists(_.lastModified > file.lastModified)) {
        IO.delete(file) // a JVM does not replace the archive of other jars
        val options = quickStart ++ archiving(file) ++
          Seq(
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            jars.mkString(java.io.File.pathSeparator)
          )
        val silent = ForkOptions()
          .withOutputStrategy(OutputStrategy.CustomOutput(java.io.OutputStream.nullOutputStream))
        val ended = IO.withTemporaryDirectory(folder =>
          Fork.java(silent.withWorkingDirectory(folder), options ++ program)
        )
        if (ended != 0) log.warn("no archive of classes: JVMs start more slowly")
      }
    }
  }

  private val testArchive = Def.setting((Test / target).value / "test.jsa")

  /** The classes of a JVM that has ended before, as they were in its memory: a third less for a
    * start. Nothing where there is no such file, since a JVM that is told of one would do without
    * the archive of the JDK's own classes too. An archive that does not fit is ignored without a
    * word.
    */
  private def archived(file: File): Seq[String] = if (file.exists) fromArchive(file) else Nil

  private def fromArchive(file: File): Seq[String] = s"-XX:SharedArchiveFile=$file" +:
    Seq("cds", "cds+dynamic", "aot").map(tag => s"-Xlog:$tag=off")
}
