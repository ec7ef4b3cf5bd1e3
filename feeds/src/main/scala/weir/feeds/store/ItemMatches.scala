package weir.feeds.store

/** Finds the entries of a feed that are stored already, though feeds name their entries badly.
  *
  * Guids should be unique and often are not: some feeds give all their entries one guid, or one
  * link and no guid. So entries of one guid are distinguished by their link, and entries of one
  * link by their title, then by their text and their date. Entries that are equal in all of that
  * are kept as often as the feed has them. A criterion is used only if the one before it leaves a
  * doubt, because the feed or the database has several equal entries. An entry that is alone with
  * its guid on both sides is the same entry, however it was edited.
  */
private[store] object ItemMatches:
  /** Each of `found`, the entries of one document in its order, with the one of `stored` that it
    * is; with none if it is new.
    *
    * @param stored
    *   the entries of the same feed, of any guid
    */
  def of(found: Vector[Item], stored: Vector[StoredItem]): Vector[(Item, Option[StoredItem])] =
    tell(found.zipWithIndex, stored, levels)
      .sortBy { case ((_, position), _) => position }
      .map { case ((item, _), known) => (item, known) }

  /** Returns true if these numbers of entries with a common value leave a doubt. */
  private def areDoubtful(found: Int, stored: Int): Boolean = found > 1 || stored > 1

  /** A comparison of two entries, by a value of the found one and a value of the stored one. */
  private final case class Level(found: Item => String, stored: StoredItem => String)

  private val levels: List[Level] = List(
    Level(_.guid, _.guid),
    Level(_.url.getOrElse(""), _.url),
    Level(_.title.getOrElse(""), _.title),
    Level(item => TextDigest.of(item.summary, item.content), _.textDigest()),
    Level(_.publishedAt.fold("")(_.toString), _.publishedAt)
  )

  /** An entry with its position in the document. */
  private type Placed = (Item, Int)

  private def tell(
      found: Vector[Placed],
      stored: Vector[StoredItem],
      levels: List[Level]
  ): Vector[(Placed, Option[StoredItem])] =
    levels match
      case Nil => found.zipWithIndex.map((placed, index) => (placed, stored.lift(index)))
      case level :: finer =>
        val known = Groups.by(stored)(level.stored)
        Groups
          .by(found)((item, _) => level.found(item))
          .toVector
          .flatMap: (value, alike) =>
            val same = known.getOrElse(value, Vector.empty)
            if areDoubtful(alike.size, same.size) then tell(alike, same, finer)
            else alike.map((_, same.headOption))
