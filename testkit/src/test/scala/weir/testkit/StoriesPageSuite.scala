package weir.testkit

import java.nio.file.{Files, Path}
import weir.testkit.bugs.{KnownBugs, PrintStory}

/** The stories in docs/stories.md are those that are printed, and a schedule repeats its story. */
class StoriesPageSuite extends munit.FunSuite:
  private val root = Iterator
    .iterate(Path.of("").toAbsolutePath)(_.getParent)
    .find(folder => Files.exists(folder.resolve("docs")))
    .get
  private val page = Files.readString(root.resolve("docs/stories.md"))

  /** The text below each heading that is the name of a bug, up to the next heading. */
  private val sections = page
    .split("\n## ")
    .map(section => (section.linesIterator.next(), section))
    .toMap

  private val told = KnownBugs.all.filter(bug => sections.contains(bug.name))

  /** Returns the block of text in a section. */
  private def block(section: String): String =
    section.split("```text\n")(1).split("\n```")(0)

  test("the page has five stories"):
    assertEquals(told.size, 5)

  for bug <- told do
    test(s"the story of ${bug.name} is the one on the page"):
      assertEquals(block(sections(bug.name)), PrintStory.of(bug))

  /** Runs `body` with the schedule that `message` names. */
  private def again[A](message: String)(body: => A): A =
    val schedule = "-Dweir.test.schedule=(\\S+)".r.findFirstMatchIn(message).get.group(1)
    System.setProperty("weir.test.schedule", schedule)
    try body
    finally System.clearProperty("weir.test.schedule"): Unit

  private val isLong = java.lang.Boolean.getBoolean("weir.long")

  for bug <- KnownBugs.all do
    val times = if !told.contains(bug) then 5 else if isLong then 100 else 20
    test(s"${bug.name}: its schedule gives the same message $times times of $times"):
      val first = PrintStory.of(bug)
      again(first) { for _ <- 1 to times do assertEquals(PrintStory.of(bug), first) }
