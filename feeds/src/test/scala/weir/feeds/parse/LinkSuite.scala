package weir.feeds.parse

import munit.FunSuite

class LinkSuite extends FunSuite:
  private def resolved(link: String, base: String = "https://a.example/b/feed.xml") =
    Link.resolve(base, link)

  for (link, absolute) <- List(
      "c" -> "https://a.example/b/c",
      "/c" -> "https://a.example/c",
      "../c?d=1&e=2" -> "https://a.example/c?d=1&e=2",
      "//h.example/c" -> "https://h.example/c",
      "?page=2" -> "https://a.example/b/feed.xml?page=2",
      " \n http://h.example/a b\n" -> "http://h.example/a b",
      "mailto:me@a.example" -> "mailto:me@a.example",
      "tag:a.example,2026:1" -> "tag:a.example,2026:1"
    )
  do test(s"'${link.trim}' leads to $absolute")(assertEquals(resolved(link), Some(absolute)))

  test("an empty link leads nowhere"):
    assertEquals(resolved(" \n "), None)
