package weir.bench.child.scale

/** A computation that takes a given number of microseconds, without reading the clock.
  *
  * The clock costs 20 to 40 ns, and in some virtual machines a system call. Each step depends on
  * the one before, so that it takes the same time for every placement of the loop by the compiler.
  */
final class Work private[scale] (stepsPerMicro: Int):
  /** Computes for `micros` microseconds, and returns `i`. */
  def compute(micros: Int, i: Int): Int =
    if micros == 0 then i else i + Work.steps(micros * stepsPerMicro, i)

object Work:
  /** Measures how many steps take a microsecond on this machine. */
  def calibrated(): Work =
    val end = System.nanoTime() + calibrationNanos
    var fastest = Long.MaxValue
    while System.nanoTime() - end < 0 do
      val start = System.nanoTime()
      kept += steps(calibrationSteps, calibrationSteps)
      fastest = math.min(fastest, System.nanoTime() - start)
    Work(math.max(1, (calibrationSteps * 1000L / math.max(1, fastest)).toInt))

  /** Returns 0, which the compiler does not know: no step of Marsaglia's xorshift leads to 0. */
  private[scale] def steps(count: Int, seed: Int): Int =
    var x = seed.toLong | 1L << 40
    var left = count
    while left > 0 do
      x ^= x << 13
      x ^= x >>> 7
      x ^= x << 17
      left -= 1
    if x == 0 then 1 else 0

  /** Written after each measurement, so that the compiler cannot remove the computation. */
  @volatile private[scale] var kept = 0

  private val calibrationNanos = 100_000_000L
  private val calibrationSteps = 20_000
