package weir.cli.purchases

import java.nio.charset.StandardCharsets.UTF_8
import java.util.SplittableRandom

/** The purchases of every client, as the seed decides. */
final class PurchaseBook(seed: Long):
  /** Returns the amounts of the purchases of client `id`. */
  def cents(id: Int): Vector[Int] =
    val random = SplittableRandom(seed * PurchaseBook.spread + id)
    Vector.fill(random.nextInt(1, 6))(random.nextInt(100, 50_000))

  /** Returns the sum that the clients 1 to `ids` have spent. */
  def total(ids: Int): Long = (1 to ids).iterator.map(cents(_).map(_.toLong).sum).sum

  /** Returns the answer about client `id`. */
  def json(id: Int): Array[Byte] =
    val purchases = cents(id).map(amount => ujson.Obj("cents" -> amount))
    ujson.write(ujson.Obj("client" -> id, "purchases" -> ujson.Arr.from(purchases))).getBytes(UTF_8)

object PurchaseBook:
  /** Keeps the clients of one seed apart from those of the next. */
  private val spread = 1_000_003L
