package weir.cli.feeds.input

import java.nio.file.Files

import munit.FunSuite

import weir.cli.{BadInput, TempFolder}

class UrlListSuite extends FunSuite with TempFolder:
  folder.test("empty lines, comments and repeated addresses are left out"): folder =>
    val text = "\uFEFF# mine\r\n\r\nhttp://a.example/\n  http://A.example:80/#x \nhttp://b.example/"
    val feeds = UrlList.read(write(folder, "feeds.txt", text))
    assertEquals(feeds.map(_.url.text), Vector("http://a.example/", "http://b.example/"))

  folder.test("a bad URL is named by file and line"): folder =>
    val file = write(folder, "feeds.txt", "http://a.example/\n\n# x\nhtp://b.example/\n")
    val bad = intercept[BadInput](UrlList.read(file))
    assertEquals(bad.place, s"$file:4")
    assert(bad.getMessage.contains("is not an http or https URL"), bad.getMessage)

  folder.test("bytes that are not UTF-8 are named by line"): folder =>
    val file = folder.resolve("feeds.txt")
    Files.write(file, "http://a.example/\n# caf".getBytes ++ Array(0xe9.toByte, '\n'.toByte))
    assertEquals(intercept[BadInput](UrlList.read(file)).place, s"$file:2")

  folder.test("a file without a URL, a folder and a missing file are refused"): folder =>
    intercept[BadInput](UrlList.read(write(folder, "empty.txt", "# nothing\n")))
    intercept[BadInput](UrlList.read(folder))
    intercept[BadInput](UrlList.read(folder.resolve("missing.txt")))
