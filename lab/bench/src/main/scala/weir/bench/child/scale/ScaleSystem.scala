package weir.bench.child.scale

/** Runs the programs of the rows on one system. */
trait ScaleSystem:
  /** Returns a function that runs `load` once and returns `load.expected`; none if the system lacks
    * the row.
    */
  def run(load: Load): Option[() => Long]

object ScaleSystem:
  /** Returns the system by its name, on `carriers` threads.
    *
    * Weir, virtual threads and ZIO have one pool for a JVM, as large as its flags say.
    */
  def of(name: String, carriers: Int): ScaleSystem = name match
    case "weir" => OnWeir
    case "virtual-threads" => OnVirtualThreads
    case "fork-join" => OnForkJoin(carriers)
    case "cats-effect" => OnCatsEffect(CatsPool(carriers))
    case "fs2" => OnFs2(CatsPool(carriers))
    case "zio" => OnZio
    case "pekko" => OnPekko(carriers)
    case other => throw IllegalArgumentException(s"scale does not run on '$other'")

  /** Starts `count` OS threads, and returns the sum of the results. */
  private[scale] def onPlatformThreads(count: Int)(body: () => Long): Long =
    val results = new Array[Long](count)
    val threads = Vector.tabulate(count): i =>
      Thread.ofPlatform().start(() => results(i) = body())
    threads.foreach(_.join())
    results.sum
