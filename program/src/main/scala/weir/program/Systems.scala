package weir.program

/** The names of the measured systems, in the order of tables and charts. */
object Systems:
  val weir = "weir"

  /** Not a system: the best result that the delays, or the machine, allow. */
  val bound = "bound"

  val all: Vector[String] = Vector(
    bound,
    weir,
    "cats-effect",
    "cats-effect-vt",
    "fs2",
    "zio",
    "pekko",
    "monix",
    "scalaz",
    "future",
    "completable-future",
    "ox",
    "java-stream",
    "fork-join",
    "platform-threads",
    "virtual-threads"
  )

  /** The systems that need Cats Effect 2, which cannot share a class path with Cats Effect 3. */
  val onCatsEffect2: Set[String] = Set("monix", "scalaz")

  /** Sorts a system that is not in `all` behind those that are. */
  def order(system: String): Int =
    val index = all.indexOf(system)
    if index < 0 then all.size else index
