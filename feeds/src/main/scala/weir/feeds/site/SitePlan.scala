package weir.feeds.site

import java.util.SplittableRandom

/** The feeds of the local site and their behaviour. A seed gives the same site every time. */
final case class SitePlan(seed: Long, feeds: Vector[PlannedFeed])

object SitePlan:
  private val shortestMillis = 10L
  private val longestMillis = 2_000L

  /** A server that fails answers at once more often than not. */
  private val longestErrorMillis = 700L

  /** Returns a plan of `size` feeds, with latencies divided by `speed`. The first `large` of those
    * without faults are documents of megabytes; all others do not depend on `large`.
    */
  def make(seed: Long, size: Int, speed: Double, large: Int = 0): SitePlan =
    val random = SplittableRandom(seed)
    val feeds = shuffled(kinds(size), random).zipWithIndex.map: (kind, index) =>
      val longest = if isRepeated(kind) then longestErrorMillis else longestMillis
      PlannedFeed(
        id = index + 1,
        kind = kind,
        isAtom = random.nextInt(3) == 0,
        isGzipped = random.nextInt(2) == 0,
        hasValidators = random.nextInt(4) > 0,
        latencyMillis = math.round(random.nextLong(shortestMillis, longest + 1) / speed),
        errors = 1 + random.nextInt(2),
        items = random.nextInt(1, 20)
      )
    val plain = feeds.filter(_.kind == Kind.Plain).take(large).map(_.id).toSet
    SitePlan(
      seed,
      feeds.map(feed => if plain(feed.id) then feed.copy(kind = Kind.Large) else feed)
    )

  private def kinds(size: Int): Vector[Kind] =
    val special = Kind.values.toVector
      .filter(kind => kind != Kind.Plain && kind != Kind.Large)
      .flatMap(kind => Vector.fill((kind.share * size / 500) max 1)(kind))
      .take(size)
    special ++ Vector.fill(size - special.size)(Kind.Plain)

  private def isRepeated(kind: Kind): Boolean =
    kind match
      case Kind.ServerError | Kind.Reset | Kind.RecoversFromServerError => true
      case Kind.RecoversFromReset | Kind.Busy => true
      case _ => false

  private def shuffled(kinds: Vector[Kind], random: SplittableRandom): Vector[Kind] =
    val array = kinds.toArray
    for i <- array.indices.reverse do
      val j = random.nextInt(i + 1)
      val kept = array(i)
      array(i) = array(j)
      array(j) = kept
    array.toVector
