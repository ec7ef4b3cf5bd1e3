package weir.bench.child.scale

import scala.concurrent.duration.*

import weir.lab.scale.{ScalePlan, ScaleRow}

/** Each system has the rows that it is said to have, and does what they say. */
class ScaleSystemsSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 1.minute

  private val carriers = 2
  private lazy val work = Work.calibrated()

  /** Cats Effect 3.7.1 may leave fibers asleep: a run on two threads, of 2,000 fibers that slept
    * for 10 ms, had not ended after five minutes. Where it is measured, it is given up after a
    * while.
    */
  private def mayHang(system: String, row: ScaleRow): Boolean =
    system == "cats-effect" && row == ScaleRow.TimersRing

  for name <- ScalePlan.systems do
    lazy val system = ScaleSystem.of(name, carriers)

    test(s"$name has the rows that it is said to have, and no other"):
      for row <- ScalePlan.rows do
        val has = system.run(Load(row, carriers, work)).isDefined
        assertEquals(has, row.systems.contains(name), row)

    for row <- ScalePlan.rowsOf(name) if !mayHang(name, row) do
      test(s"$name, ${row.id}: a run returns what is expected, twice, and waits where it must"):
        val load = Load(row, carriers, work, divisor = 50)
        val run = system.run(load).get
        for _ <- 1 to 2 do
          val start = System.nanoTime()
          assertEquals(run(), load.expected)
          assert(System.nanoTime() - start >= load.idle.toNanos)

  test("another system is refused by name"):
    interceptMessage[IllegalArgumentException]("scale does not run on 'monix'"):
      ScaleSystem.of("monix", carriers)
