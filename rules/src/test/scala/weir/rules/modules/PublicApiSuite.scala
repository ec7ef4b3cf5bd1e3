package weir.rules.modules

import java.nio.file.Files
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.rules.{Checkout, InnerPackages, PublicNames, PublicSignatures, PublicUse, TreeRule}

/** Outside of `core` a module uses what its authors' own users can use. Who may call a method of a
  * published module can name what it takes and returns.
  */
class PublicApiSuite extends munit.FunSuite:
  import PublicApiSuite.*

  /** The first test of each list has the compiler read the TASTy of all its modules. */
  override def munitTimeout: Duration = 3.minutes

  /** Rivals are compared with what users of Weir can call; the splitter is measured by itself. */
  private val programs = List(
    Ruled("program", "weir.program"),
    Ruled("feeds", "weir.feeds"),
    Ruled("cli", "weir.cli"),
    Ruled("lab", "weir.lab"),
    Ruled("bench", Some("weir.bench"), inner = InnerPackages.all - "weir.postgres.split")
  )

  /** Those that know no other module but `core`'s macros and such as are listed with them. */
  private val without = Set("macros", "rules", "test-limit", "bench-ce2") +
    "docs" // only calls that users write

  private lazy val ofPrograms = Found(programs)

  for
    (modules, found) <- List((published, () => ofPublished), (programs, () => ofPrograms))
    module <- modules
    own <- module.own
  do
    test(s"only public API of other modules is used: ${module.folder}"):
      assertEquals(found().uses(own), Nil)

  test("public signatures name public types alone"):
    assertEquals(ofPublished.signatures, Nil)

  test("each module has its rules"):
    val folders = List(Checkout.root, Checkout.root.resolve("lab"))
      .flatMap(Files.list(_).iterator.asScala)
      .filter(folder => Files.isDirectory(folder.resolve("src/main")))
      .map(_.getFileName.toString)
      .toSet
    assertEquals((published ++ programs).map(_.folder).toSet ++ without, folders)

object PublicApiSuite:

  /** A module.
    *
    * @param own
    *   the module's package, if it is to use public API of others alone
    * @param inner
    *   the packages that it may not use
    */
  private final case class Ruled(folder: String, own: Option[String], inner: Set[String])

  private object Ruled:
    def apply(folder: String, own: Option[String]): Ruled = Ruled(folder, own, InnerPackages.all)
    def apply(folder: String, own: String): Ruled = Ruled(folder, Some(own))

  /** The lines about modules whose trees are read together. */
  private final class Found(modules: List[Ruled]):
    private val folders = modules.map(_.folder)
    private val owners = modules.flatMap(_.own)
    private val all = TreeRule.breaking(
      PublicSignatures("weir", InnerPackages.all) :: PublicNames("weir", InnerPackages.all) ::
        modules.flatMap(module => module.own.map(PublicUse("weir", _, module.inner))),
      folders.map(Modules.of),
      Modules.classPath(folders)
    )

    val signatures: List[String] = all.head
    val names: List[List[String]] = all(1).map(_.split("\t", -1).toList)
    val uses: Map[String, List[String]] = owners.zip(all.drop(2)).toMap

  /** Those of libraries. The test kits drive what they are for from within, so they may use what is
    * private to Weir; their users may not.
    */
  private val published = List(
    Ruled("core", own = None),
    Ruled("testkit", own = None),
    Ruled("slf4j", "weir.slf4j"),
    Ruled("otel", "weir.otel"),
    Ruled("micrometer", "weir.micrometer"),
    Ruled("console", "weir.console"),
    Ruled("csv", "weir.csv"),
    Ruled("json", "weir.json"),
    Ruled("zstd", "weir.zstd"),
    Ruled("cron", "weir.cron"),
    Ruled("http", "weir.http"),
    Ruled("sttp", "weir.interop.sttp"),
    Ruled("tapir", "weir.interop.tapir"),
    Ruled("cats", "weir.interop.cats"),
    Ruled("fs2", "weir.interop.fs2"),
    Ruled("postgres", "weir.postgres"),
    Ruled("postgres-queue", "weir.postgres.queue"),
    Ruled("kafka", "weir.kafka"),
    Ruled("kafka-testkit", own = None),
    Ruled("kafka-broker", "weir.kafka.broker")
  )

  private lazy val ofPublished = Found(published)

  /** Returns the public names of what is published, as `PublicNames` has them. */
  def names: List[List[String]] = ofPublished.names
