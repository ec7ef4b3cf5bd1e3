package weir.lab.scale

import scala.concurrent.duration.*

import munit.FunSuite

class TimeShareSuite extends FunSuite:
  private def steps(carriers: Int*) = ScaleStep.all(ScalePlan.systems, carriers, ScalePlan.rows)

  /** Returns the time of a run in which each JVM takes `slowness` times its expected time. */
  private def simulated(steps: Vector[ScaleStep], time: FiniteDuration, slowness: Double) =
    var left = steps
    var taken = Duration.Zero: FiniteDuration
    var shares = Vector.empty[(ScaleStep, TimeShare)]
    var next = TimeShare.next(left, time)
    while next.nonEmpty do
      val share = next.get._2
      val step = left.head
      val needed = (TimeShare.expected(step, share).toMillis * slowness).toLong.millis
      taken += needed.min(TimeShare.deadline(step, share, time - taken))
      shares :+= step -> share
      left = left.tail
      next = TimeShare.next(left, time - taken)
    (shares, taken)

  test("a run ends within its time, however many carriers there are and however slow the JVMs are"):
    for
      carriers <- List(Seq(1), Seq(1, 2), Seq(1, 2, 4, 8, 16), Seq(1, 2, 4, 8, 16, 32, 64))
      minutes <- List(1, 2, 7, 60)
      slowness <- List(0.5, 1.0, 1.7, 5.0, 1000.0)
    do
      val (_, taken) = simulated(steps(carriers*), minutes.minutes, slowness)
      assert(taken <= minutes.minutes, s"$carriers $minutes $slowness: $taken")

  test("seven minutes are enough for all systems with five numbers of carriers"):
    val all = steps(1, 2, 4, 8, 16)
    val (shares, taken) = simulated(all, 7.minutes - ScaleJob.reserve, 1)
    assertEquals(shares.map(_._1), all)
    assert(taken > 6.minutes, taken)

  test("no row gets less than what a figure needs, nor more than makes it better"):
    for minutes <- List(1, 3, 7, 600) do
      for (step, share) <- simulated(steps(1, 2, 4, 8), minutes.minutes, 1)._1 do
        assert(share.total >= TimeShare.least - 20.millis, s"$step $share")
        assert(share.total <= TimeShare.most, s"$step $share")

  test("without time for all the most important ones are measured, and none without any"):
    val all = steps(1, 2, 4, 8, 16)
    val (shares, _) = simulated(all, 1.minute, 1)
    assert(shares.nonEmpty && shares.size < all.size, shares.size)
    assertEquals(shares.map(_._1), all.take(shares.size))
    assertEquals(TimeShare.next(all, 2.seconds), None)
    assertEquals(TimeShare.next(all, -1.second), None)
    assertEquals(TimeShare.next(Nil, 1.hour), None)

  test("a row with one carrier gets longer than with many, since it compiles, too"):
    val (shares, _) = simulated(steps(1, 16), 7.minutes, 1)
    val ofWeir = shares.collect { case (step, share) if step.system == "weir" => share.total }
    assert(ofWeir(0) > ofWeir(1) * 2, ofWeir)

  test("a JVM is killed before the time of the run is over"):
    val step = steps(1).head
    val share = TimeShare(100.millis, 10.millis, 5)
    val usual = TimeShare.deadline(step, share, 1.hour)
    assert(usual > TimeShare.expected(step, share), usual)
    assertEquals(TimeShare.deadline(step, share, 3.seconds), 3.seconds)
