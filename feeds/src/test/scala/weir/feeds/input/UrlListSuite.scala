package weir.feeds.input

import java.nio.charset.StandardCharsets.UTF_16
import java.nio.file.Files

import munit.FunSuite

import weir.program.{BadInput, TempFolder}

class UrlListSuite extends FunSuite with TempFolder:
  private def urls(list: FeedList) = list.feeds.map(_.url.text)

  folder.test("empty lines, comments and repeated addresses are left out"): folder =>
    val text = "\uFEFF# mine\r\n\r\nhttp://a.example/\n  http://A.example:80/#x \nb.example"
    val list = UrlList.read(write(folder, "feeds.txt", text))
    assertEquals(urls(list), Vector("http://a.example/", "https://b.example/"))
    assertEquals(list.problems, Vector.empty)

  folder.test("a bad URL is named by file and line, and the others are taken"): folder =>
    val file =
      write(folder, "feeds.txt", "http://a.example/\n\n# x\nhtp://b.example/\nhttp://c.example/\n")
    val list = UrlList.read(file)
    assertEquals(urls(list), Vector("http://a.example/", "http://c.example/"))
    assertEquals(list.problems.map(_.place), Vector(s"$file:4"))
    assert(list.problems.head.getMessage.contains("is not an http or https URL"))

  folder.test("a line that is not UTF-8 is named, and the others are taken"): folder =>
    val file = folder.resolve("feeds.txt")
    Files.write(file, "http://a.example/\n# caf".getBytes ++ Array(0xe9, '\n').map(_.toByte))
    Files.write(file, "http://b.example/é".getBytes, java.nio.file.StandardOpenOption.APPEND)
    val list = UrlList.read(file)
    assertEquals(urls(list), Vector("http://a.example/", "http://b.example/%C3%A9"))
    assertEquals(list.problems.map(_.place), Vector(s"$file:2"))

  folder.test("every kind of line break counts as one, and UTF-16 with its mark is read"): folder =>
    val text = "http://a.example/\r\nhttp://b.example/\rhttp://c.example/\nhtp:x\r\n"
    for encoding <- List(java.nio.charset.StandardCharsets.UTF_8, UTF_16) do
      val file = Files.write(folder.resolve("feeds.txt"), text.getBytes(encoding))
      val list = UrlList.read(file)
      assertEquals(urls(list).size, 3, encoding)
      assertEquals(list.problems.map(_.place), Vector(s"$file:4"), encoding)

  folder.test("a file without a URL, a folder and a missing file are refused"): folder =>
    intercept[BadInput](UrlList.read(write(folder, "empty.txt", "# nothing\n")))
    intercept[BadInput](UrlList.read(folder))
    intercept[BadInput](UrlList.read(folder.resolve("missing.txt")))
