package weir.rules.modules

import java.nio.file.Files
import scala.jdk.CollectionConverters.*
import weir.rules.Checkout

/** The folder docs/api lists all public names, with a file for each package. A change of one is
  * seen where it is reviewed, and is never made by accident.
  */
class PublicNamesSuite extends munit.FunSuite:
  private val folder = Checkout.root.resolve("docs/api")
  private val isToBeWritten = java.lang.Boolean.getBoolean("weir.api.write")

  override def munitTimeout = scala.concurrent.duration.Duration(3, "min")

  private lazy val pages: Map[String, String] =
    PublicApiSuite.names.groupBy(_.head).map((place, lines) => s"$place.txt" -> page(place, lines))

  private def page(place: String, lines: List[List[String]]): String =
    val types =
      for (_, ofType) <- lines.groupBy(_(1)).toList.sortBy(_(0)) yield
        val (title, members) = ofType.partition(_(2).isEmpty)
        (title.map(_(3)) ++ members.map("  " + _(3)).sorted).mkString("\n")
    s"package $place\n\n${types.mkString("\n\n")}\n"

  if isToBeWritten then
    test("docs/api is written"):
      Files.createDirectories(folder)
      for old <- written.keys.toList.diff(pages.keys.toList) do Files.delete(folder.resolve(old))
      for (name, text) <- pages do Files.writeString(folder.resolve(name), text)
  else
    test("docs/api has all public names, and no others"):
      assertEquals(written.keySet, pages.keySet)
      for (name, text) <- pages do
        assertNoDiff(
          written(name),
          text,
          s"The public names of docs/api/$name have changed. If that is meant, run " +
            "`./weir test rules -Dweir.api.write=true` and commit what it writes."
        )

  private def written: Map[String, String] =
    if !Files.isDirectory(folder) then Map.empty
    else
      Files
        .list(folder)
        .iterator
        .asScala
        .filter(_.getFileName.toString.endsWith(".txt"))
        .map(file => file.getFileName.toString -> Files.readString(file))
        .toMap
