package weir.cli.feeds.store

/** Which entries of a feed are new, though feeds name their entries badly.
  *
  * Guids should be unique and often are not: some feeds give all their entries one guid, or one
  * link and no guid. So entries of one guid are distinguished by their link, those of one link by
  * their title, then by their text and their date; and of entries that are equal in all of that
  * there are as many as the feed has. A criterion is used only if the one before it leaves a doubt:
  * where the feed, or the database, has several of the same. An entry that is alone with its guid
  * on both sides is the same entry, however it was edited.
  */
private[store] object NewItems:
  /** Those of `found`, the entries of one document in its order, that are not in `stored`.
    *
    * @param stored
    *   the entries of the same feed, of any guid
    */
  def of(found: Vector[Item], stored: Vector[StoredItem]): Vector[Item] =
    tell(found.zipWithIndex, stored, levels).sortBy(_(1)).map(_(0))

  /** Whether guids alone cannot tell `found` from `stored` entries. */
  def areDoubtful(found: Int, stored: Int): Boolean = found > 1 || stored > 1

  /** How two entries are compared: by this of the found one, and that of the stored one. */
  private final case class Level(found: Item => String, stored: StoredItem => String)

  private val levels: List[Level] = List(
    Level(_.guid, _.guid),
    Level(_.url.getOrElse(""), _.url),
    Level(_.title.getOrElse(""), _.title),
    Level(item => TextDigest.of(item.summary, item.content), _.textDigest()),
    Level(_.publishedAt.fold("")(_.toString), _.publishedAt)
  )

  /** Those of `found` that are not in `stored`, each with its position in the document. */
  private def tell(
      found: Vector[(Item, Int)],
      stored: Vector[StoredItem],
      levels: List[Level]
  ): Vector[(Item, Int)] =
    levels match
      case Nil => found.drop(stored.size)
      case level :: finer =>
        val known = Groups.by(stored)(level.stored)
        Groups
          .by(found)((item, _) => level.found(item))
          .toVector
          .flatMap: (value, alike) =>
            val same = known.getOrElse(value, Vector.empty)
            if areDoubtful(alike.size, same.size) then tell(alike, same, finer)
            else if same.isEmpty then alike
            else Vector.empty
