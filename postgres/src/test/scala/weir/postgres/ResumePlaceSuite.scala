package weir.postgres

import weir.WeirSuite

class ResumePlaceSuite extends WeirSuite:
  test("a place to go on at is a line, a line and a column, or the end"):
    assertEquals(Resume.Place.parse("12"), Some(Resume.Place(12, 1)))
    assertEquals(Resume.Place.parse("12:3"), Some(Resume.Place(12, 3)))
    assertEquals(Resume.Place.parse("end"), Some(Resume.Place.end))
    for text <- Seq("", "0", "a", "1:", ":1", "1:0", "1:2:3") do
      assertEquals(Resume.Place.parse(text), None, text)
