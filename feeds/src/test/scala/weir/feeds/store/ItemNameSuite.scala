package weir.feeds.store

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

class ItemNameSuite extends FunSuite:
  test("an item is named by its guid, else its link, else its text"):
    assertEquals(ItemName.of(Some("g"), Some("u"), Some("t"), None), "g")
    assertEquals(ItemName.of(None, Some("u"), Some("t"), None), "u")
    val text = ItemName.of(None, None, Some("t"), Some("s"))
    assertEquals(text, ItemName.of(None, None, Some("t"), Some("s")))
    assertNotEquals(text, ItemName.of(None, None, Some("t"), Some("other")))
    assertNotEquals(text, ItemName.of(None, None, Some("ts"), None))

  test("a long name fits an index, begins as it did, and is still its own"):
    for letter <- List("a", "ж", "📰") do
      val long = letter * 900
      val names =
        List(s"${long}1", s"${long}2").map(guid => ItemName.of(Some(guid), None, None, None))
      assertEquals(names.distinct.size, 2)
      names.foreach: name =>
        assert(name.getBytes(UTF_8).length <= ItemName.limitBytes, name)
        assert(name.startsWith(letter * 50))
        assert(UTF_8.newEncoder.canEncode(name))
