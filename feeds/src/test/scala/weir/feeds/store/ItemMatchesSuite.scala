package weir.feeds.store

import munit.FunSuite

class ItemMatchesSuite extends FunSuite:
  private def item(guid: String, url: String = "", title: String = "", text: String = "") =
    def some(text: String) = Option.when(text.nonEmpty)(text)
    Item(guid, some(url), some(title), None, some(text))

  /** The number of texts of stored items that were read. */
  private var read = 0

  private def stored(items: Vector[Item]): Vector[StoredItem] = items.zipWithIndex.map:
    (item, id) =>
      StoredItem(
        id = id,
        guid = item.guid,
        url = item.url.getOrElse(""),
        title = item.title.getOrElse(""),
        publishedAt = "",
        textDigest = () =>
          read += 1
          TextDigest.of(item.summary, item.content)
      )

  private def fresh(found: Vector[Item], known: Vector[Item]): Vector[Item] =
    ItemMatches.of(found, stored(known)).collect { case (item, None) => item }

  /** The numbers of the known items that the found ones are. */
  private def same(found: Vector[Item], known: Vector[Item]): Vector[Option[Long]] =
    ItemMatches.of(found, stored(known)).map(_._2.map(_.id))

  test("an item that is known comes with the stored one that it is"):
    val known =
      Vector(item("a"), item("g", "u1", "x"), item("g", "u2", "y"), item("b", title = "t"))
    val edited = Vector(item("g", "u2", "y2"), item("b", title = "t2"), item("c"), item("g", "u1"))
    assertEquals(same(edited, known), Vector(Some(2L), Some(3L), None, Some(1L)))
    val equal = Vector.fill(3)(item("g"))
    assertEquals(same(equal, equal.take(2)), Vector(Some(0L), Some(1L), None))

  test("an item with a guid of its own is known again, however it was edited"):
    val known = Vector(item("g", "u", "t", "s"))
    assertEquals(fresh(Vector(item("g", "u2", "t2", "s2")), known), Vector.empty)
    assertEquals(fresh(Vector(item("h", "u", "t", "s")), known).map(_.guid), Vector("h"))

  test("items of one guid are told apart by link, then title, then text"):
    for
      same <- List(
        Vector(item("g", "u1"), item("g", "u2"), item("g", "u3"), item("g")),
        Vector(item("g", "u", "t1"), item("g", "u", "t2")),
        Vector(item("g", "u", "t", "s1"), item("g", "u", "t", "s2"))
      )
      known <- 0 to same.size
    do assertEquals(fresh(same, same.take(known)), same.drop(known))

  test("of items that are equal in all there are as many as the feed has"):
    val one = item("g", "u", "t", "s")
    assertEquals(fresh(Vector.fill(4)(one), Vector.empty).size, 4)
    assertEquals(fresh(Vector.fill(4)(one), Vector.fill(3)(one)).size, 1)
    assertEquals(fresh(Vector.fill(2)(one), Vector.fill(4)(one)).size, 0)

  test("a link that tells items of one guid apart makes their texts free to change"):
    val known = Vector(item("g", "u1", "a"), item("g", "u2", "b"))
    val edited = Vector(item("g", "u1", "a!"), item("g", "u2", "b!"), item("g", "u3", "c"))
    assertEquals(fresh(edited, known).flatMap(_.url), Vector("u3"))

  test("a guid that several stored items have is no longer believed for one alone"):
    val known = Vector(item("g", "u1"), item("g", "u2"))
    assertEquals(fresh(Vector(item("g", "u3")), known).size, 1)
    assertEquals(fresh(Vector(item("g", "u2")), known).size, 0)

  test("new items are in the order of the document"):
    val found = Vector(item("b"), item("a", "1"), item("c"), item("a", "2"))
    assertEquals(fresh(found, Vector(item("c"))), found.patch(2, Nil, 1))

  test("texts are read only of items that nothing else tells apart"):
    val known = Vector(item("a", "1", "t"), item("a", "2", "t"), item("b", "1", "t"))
    read = 0
    assertEquals(fresh(known, known), Vector.empty)
    assertEquals(read, 0)
    val alike = Vector.fill(2)(item("a", "1", "t", "text"))
    assertEquals(fresh(alike, alike), Vector.empty)
    assertEquals(read, 2)

  test("guids of one hash code take no longer than others"):
    def guids(length: Int): Vector[String] =
      if length == 0 then Vector("")
      else guids(length - 1).flatMap(rest => Vector("Aa" + rest, "BB" + rest))
    val many = guids(14).map(item(_))
    assertEquals(many.map(_.guid.hashCode).distinct.size, 1)
    val start = System.nanoTime()
    assertEquals(fresh(many, many.drop(1)).size, 1)
    assert((System.nanoTime() - start) / 1_000_000 < 3_000)
