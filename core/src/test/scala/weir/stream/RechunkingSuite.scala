package weir
package stream

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*

/** The number of elements that a source makes at a time changes nothing: each size counts elements,
  * and the results do not depend on the groups in which the elements came.
  */
class RechunkingSuite extends munit.ScalaCheckSuite, StreamTests:

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(8, 500))

  /** The same elements, from collections of any sizes. */
  private def regrouped(items: List[Int], sizes: List[Int]): List[Stream[Int]] =
    val groups = sizes
      .foldLeft((items, List.empty[List[Int]])) { case ((left, made), size) =>
        (left.drop(size), left.take(size) :: made)
      }
    val parts = (groups._1 :: groups._2).reverse
    val all = Stream.fromIterable(items)
    List(
      all,
      all.evalMap(i => Task.cede.as(i)),
      Stream.fromIterable(parts).mapConcat(identity),
      Stream.fromIterable(parts).flatMap(Stream.fromIterable),
      parts.map(Stream.fromIterable).foldLeft(Stream.empty: Stream[Int])(_ ++ _),
      all.chunkN(sizes.headOption.fold(1)(_ + 1)).mapConcat(identity),
      all.prefetchN(3)
    )

  for (name, pipe) <- List[(String, Stream[Int] => Stream[Any])](
      "take" -> (_.take(5)),
      "drop" -> (_.drop(5)),
      "takeRight" -> (_.takeRight(3)),
      "dropRight" -> (_.dropRight(3)),
      "chunkN" -> (_.chunkN(4)),
      "sliding" -> (_.sliding(3, 2)),
      "chunkWeighted" -> (_.chunkWeighted(9)(_.toLong)),
      "groupAdjacentBy" -> (_.groupAdjacentBy(_ / 3)),
      "split" -> (_.split(_ % 4 == 0)),
      "zipWithIndex" -> (_.zipWithIndex),
      "scan" -> (_.scan(0)(_ + _)),
      "intersperse" -> (_.intersperse(-1)),
      "groupWithin" -> (_.groupWithin(4, 1.hour)),
      "groupWeightedWithin" -> (_.groupWeightedWithin(9, 1.hour, size = 4)(_.toLong)),
      "parEvalMap" -> (_.parEvalMap(3, 2)(i => Task.cede.as(i))),
      "parEvalMap of ready values" -> (_.parEvalMap(3, 2)(Task.pure)),
      "parEvalMapBy, one key" -> (_.parEvalMapBy(3, 2)(_ => 0)(i => Task.pure(i))),
      "prefetchN" -> (_.prefetchN(2)),
      "merge" -> (_.merge(Stream.empty)),
      "broadcastThrough" -> (_.broadcastThrough(identity[Stream[Int]])),
      "balance" -> (_.balance(identity[Stream[Int]])),
      "parZip" -> (_.parZip(Stream.constant(0))),
      "batch" -> (_.batch(4, _ => 1)(Vector(_))(_ :+ _).mapConcat(identity)),
      "throttle" -> (_.throttle(1000, 1.milli, 1000)),
      "Overflow.Fail in a buffer that is large enough" -> (_.buffer(100, Overflow.Fail))
    )
  do
    property(s"$name: the same result, however its source groups the elements"):
      forAll(Gen.listOfN(12, Gen.choose(0, 9)), Gen.listOf(Gen.choose(0, 5))) { (items, sizes) =>
        val results = regrouped(items, sizes).map(pipe(_).toList.runSync())
        results.tail.foreach(assertEquals(_, results.head))
      }
