package weir.kafka.consumer

import munit.ScalaCheckSuite
import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, forAllNoShrink}
import scala.collection.immutable.SortedSet

/** The tracker and its maps, compared with sets of offsets. */
class OffsetTrackerSuite extends ScalaCheckSuite:

  /** Ascending offsets with gaps, as compaction leaves them, and the choice of those that are done.
    */
  private val partition: Gen[(Vector[Long], Set[Long])] =
    for
      start <- Gen.choose(0L, 5000L)
      gaps <- Gen.listOf(
        Gen.frequency(20 -> Gen.const(1L), 3 -> Gen.choose(2L, 5L), 1 -> Gen.choose(500L, 5000L))
      )
      offsets = gaps.scanLeft(start)(_ + _).toVector
      share <- Gen.oneOf(0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
      done <- Gen.listOfN(offsets.size, Gen.choose(0.0, 1.0))
    yield (offsets, offsets.zip(done).collect { case (offset, at) if at <= share => offset }.toSet)

  private def trackerOf(offsets: Vector[Long], done: Iterable[Long]): OffsetTracker =
    val tracker = OffsetTracker(None)
    offsets.foreach(tracker.add(_): Unit)
    done.foreach(offset => assert(tracker.done(offset)))
    tracker

  private def next(offsets: Vector[Long]): Long = offsets.last + 1

  property("the prefix ends at the first record that is not done"):
    forAllNoShrink(partition) { (offsets, done) =>
      val tracker = trackerOf(offsets, done)
      val model = offsets.find(!done(_)).getOrElse(next(offsets))
      Prop(tracker.prefixEnd == model)
    }

  property("the order in which records are done makes no difference"):
    forAllNoShrink(partition, Gen.long) { case ((offsets, done), seed) =>
      val shuffled = scala.util.Random(seed).shuffle(done.toVector)
      val (one, other) = (trackerOf(offsets, done), trackerOf(offsets, shuffled))
      Prop(one.progress(4096) == other.progress(4096))
    }

  property("a range that is done is as good as its records one by one"):
    forAllNoShrink(partition, Gen.choose(0.0, 1.0), Gen.choose(0.0, 1.0)) {
      case ((offsets, done), one, other) =>
        def offsetAt(share: Double) = offsets.head + ((next(offsets) - offsets.head) * share).toLong
        val (from, until) = (offsetAt(math.min(one, other)), offsetAt(math.max(one, other)))
        val more = offsets.filter(at => from <= at && at < until).filterNot(done)
        val ranged = trackerOf(offsets, done)
        val count = ranged.doneRange(from, until)
        val single = trackerOf(offsets, done ++ more)
        // The range may end with offsets that do not exist, which are in the map then.
        val ends = more.nonEmpty && !offsets.contains(until - 1)
        Prop(
          count == more.size && ranged.prefixEnd == single.prefixEnd &&
            (ends || ranged.progress(4096) == single.progress(4096)) &&
            offsets.forall(at => ranged.isUndone(at) == single.isUndone(at))
        )
    }

  property("a restart reads what is not done, and nothing else"):
    forAllNoShrink(partition) { (offsets, done) =>
      val progress = trackerOf(offsets, done).progress(1 << 20).get
      Prop(progress.isWhole && restart(progress, offsets) == offsets.filterNot(done))
    }

  property("where the map is too long, a restart reads all that is not done, and the map fits"):
    forAllNoShrink(partition, Gen.choose(0, 60)) { case ((offsets, done), limit) =>
      val progress = trackerOf(offsets, done).progress(limit).get
      val read = restart(progress, offsets)
      val kept = offsets.filterNot(done)
      Prop(
        progress.metadata.length <= limit && kept.forall(read.toSet) &&
          (!progress.isWhole || read == kept)
      )
    }

  property("a commit early after a restart keeps what the map says beyond it"):
    forAllNoShrink(partition, Gen.choose(0.0, 1.0)) { case ((offsets, done), share) =>
      val first = trackerOf(offsets, done).progress(1 << 20).get
      val again = OffsetTracker(DoneMap.decode(first.offset, first.metadata))
      val read = offsets.filter(_ >= first.offset)
      read.take((read.size * share).toInt).foreach(again.add(_): Unit)
      again.progress(1 << 20) match
        case None => Prop(first.metadata.isEmpty)
        case Some(second) =>
          val left = restart(second, offsets)
          Prop(left == offsets.filterNot(done) && second.offset >= first.offset)
    }

  property("records that are gone after a restart hold up no prefix"):
    forAllNoShrink(partition, Gen.choose(0.0, 1.0), Gen.long) {
      case ((offsets, done), share, seed) =>
        val progress = trackerOf(offsets, done).progress(1 << 20).get
        val random = scala.util.Random(seed)
        val left = offsets.filter(_ >= progress.offset).filter(_ => random.nextDouble() < share)
        val again = OffsetTracker(DoneMap.decode(progress.offset, progress.metadata))
        left.foreach(offset => if again.add(offset) then again.done(offset): Unit)
        again.moveTo(next(offsets))
        Prop(again.prefixEnd == next(offsets))
    }

  property("runs of records are added as one by one"):
    forAll(Gen.choose(0L, 3000L), Gen.listOf(Gen.choose(1, 1500))) { (start, sizes) =>
      val (runs, single) = (OffsetTracker(None), OffsetTracker(None))
      var at = start
      sizes.foreach { size =>
        assert(runs.addRange(at, size))
        (at until at + size).foreach(single.add(_): Unit)
        at += size
      }
      (start until at by 7).foreach { offset =>
        runs.done(offset): Unit
        single.done(offset): Unit
      }
      Prop(runs.progress(4096) == single.progress(4096) && runs.end == single.end)
    }

  test("the last offsets that there are"):
    val last = Long.MaxValue
    val map = DoneMap(last - 5000, Vector((last - 3000, last - 5)), last - 2)
    val tracker = OffsetTracker(Some(map))
    assertEquals(tracker.prefixEnd, last - 3000)
    (last - 3000 until last - 5).foreach(offset => assert(tracker.done(offset)))
    assert(!tracker.done(last - 5))

  test("one record that is never done costs a few bytes, however many are done beyond it"):
    val tracker = OffsetTracker(None)
    val count = 3_000_000
    assert(tracker.addRange(0, count))
    (1L until count).foreach(tracker.done(_): Unit)
    val progress = tracker.progress(4096).get
    assertEquals(progress.offset, 0L)
    assert(progress.isWhole && progress.metadata.length < 20, progress.metadata)

  test("every second record that is not done takes a bit each"):
    val tracker = OffsetTracker(None)
    assert(tracker.addRange(0, 10_000))
    (1L until 10_000L by 2).foreach(tracker.done(_): Unit)
    val progress = tracker.progress(4096).get
    assert(progress.isWhole && progress.metadata.length < 10_000 / 6 + 20)

  test("what other programs have in their commits is no map"):
    for text <- List("", "consumer-1", "weir1r%%%", "weir1b", "weir1r//////////////", "bAAAB") do
      assertEquals(DoneMap.decode(7, text), None, text)

  test("a map that claims more undone records than there can be is no map"):
    val huge =
      DoneMap.encode(0, 1L << 40, at => if at < (1L << 22) then at else Long.MaxValue, 4096)
    assertEquals(DoneMap.decode(0, huge.text), None)

  test("a record is done once"):
    val tracker = OffsetTracker(None)
    assert(tracker.add(5))
    assertEquals((tracker.done(5), tracker.done(5), tracker.done(4)), (true, false, false))

  test("the marks of transactions after the last record are behind the prefix"):
    val tracker = OffsetTracker(None)
    assert(tracker.add(5) && tracker.done(5))
    tracker.moveTo(8)
    assertEquals(tracker.prefixEnd, 8L)

  /** Returns the offsets for a consumer that begins with a commit. */
  private def restart(progress: OffsetTracker.Progress, offsets: Vector[Long]): Vector[Long] =
    val tracker = OffsetTracker(DoneMap.decode(progress.offset, progress.metadata))
    val before = SortedSet.from(offsets).rangeUntil(progress.offset)
    assert(before.size == offsets.count(_ < progress.offset))
    offsets.filter(_ >= progress.offset).filter(tracker.add)
