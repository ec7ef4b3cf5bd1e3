import sbt._

/** The Markdown pages of the repository that the site has, by their paths in it.
  *
  * @param root
  *   the repository
  */
final case class SitePages(root: File) {

  /** All pages of docs/, those at the root, and the READMEs beside the code. */
  val paths: Seq[String] = {
    val modules = IO.listFiles(root).filter(folder => (folder / "src" / "main").isDirectory)
    val files = Seq("README.md", "CONTRIBUTING.md", "CHANGELOG.md").map(root / _) ++
      markdown(root / "docs").filterNot(_.getPath.contains("/target/")) ++
      modules.toSeq
        .filterNot(_.getName == "docs")
        .flatMap(module => markdown(module / "src" / "main" / "scala")) ++
      markdown(root / "examples").filterNot(_.getPath.contains("/target/"))
    files.map(file => IO.relativize(root, file).get.replace('\\', '/')).sorted
  }

  private def markdown(folder: File): Seq[File] = (folder ** "*.md").get

  private val known = paths.toSet

  /** Returns a page as it is in the repository. */
  def source(path: String): String = IO.read(root / path)

  def contains(path: String): Boolean = known(path)

  /** Writes the pages as their readers see them, with the pictures that they show, into `to`. Links
    * to what is no page, such as source code, lead to GitHub.
    */
  def write(to: File): Unit = {
    for (path <- paths) {
      val text = PageExamples.shown(source(path))
      IO.write(to / path, SiteLinks.outward(this, path, text))
    }
    for (picture <- (root / "docs" * "*.svg").get)
      IO.copyFile(picture, to / "docs" / picture.getName)
  }

  /** Returns the titles in bold of docs/README.md, each with the text and path of the links under
    * it.
    */
  def menu: Seq[(String, Seq[(String, String)])] = {
    val entry = """\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)#]+)\)""".r
    val empty = Vector.empty[(String, Vector[(String, String)])]
    entry
      .findAllMatchIn(IO.read(root / "docs" / "README.md").replace('\n', ' '))
      .foldLeft(empty) { (sections, found) =>
        Option(found.group(1)) match {
          case Some(title) => sections :+ (title -> Vector.empty)
          case None =>
            val page = SiteLinks.resolve("docs/README.md", found.group(3))
            if (sections.isEmpty || !contains(page)) sections
            else {
              val (title, links) = sections.last
              sections.init :+ (title -> (links :+ (found.group(2).replace("`", "") -> page)))
            }
        }
      }
      .filter(_._2.nonEmpty)
  }
}
