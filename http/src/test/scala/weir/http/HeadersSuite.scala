package weir.http

class HeadersSuite extends munit.FunSuite:
  test("names are compared without regard to case"):
    val headers = Headers("A" -> "1", "b" -> "2", "a" -> "3")
    assertEquals(headers.get("a"), Some("1"))
    assertEquals(headers.all("A"), Vector("1", "3"))
    assertEquals(headers.set("B", "4").toVector, Vector("A" -> "1", "a" -> "3", "B" -> "4"))
    assertEquals(headers.remove("a"), Headers("b" -> "2"))
    assert(!headers.contains("c"))

  test("a field that would end its line is refused"):
    for
      (name, value) <- List(
        "a" -> "b\r\nc: d",
        "a" -> "b\nc",
        "a" -> "\u0000",
        "a" -> "\u010a",
        "a b" -> "",
        "" -> ""
      )
      add <- List[() => Headers](() => Headers(name -> value), () => Headers.empty.add(name, value))
    do
      val error = intercept[IllegalArgumentException](add())
      assert(!error.getMessage.exists(Character.isISOControl), error.getMessage)
