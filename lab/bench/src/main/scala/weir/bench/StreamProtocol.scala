package weir.bench

import java.util.concurrent.TimeUnit
import org.openjdk.jmh.annotations.*
import scala.compiletime.uninitialized

/** Compares the ways in which a stage can pass on elements: by push with a stop signal, by pull, or
  * as an iterator.
  *
  * Each way is as small as it can be: no effects, no finalizers. `loop` is what one would write by
  * hand. `table` is pull, with neighbouring maps and filters in one stage. With the profile
  * `shared`, all pipes have run before the measuring begins, as in a program with more than one
  * pipe: then a stage sees many kinds of neighbours.
  */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class StreamProtocol extends Scenario:
  @Param(Array("10000")) var size: Int = uninitialized
  @Param(Array("three", "eight", "take", "zip", "flatMap")) var pipe: String = uninitialized
  @Param(Array("alone", "shared")) var profile: String = uninitialized
  private var items: Array[Any] = uninitialized

  def expected: Long =
    val numbers = Vector.range(0L, size.toLong)
    pipe match
      case "three" => numbers.filter(_ % 2 == 0).map(_ + 1).sum
      case "eight" =>
        numbers
          .map(_ + 4)
          .filter(a => (a - 3) % 3 != 0 && (a - 2) % 5 != 0 && (a - 1) % 7 != 0 && a % 11 != 0)
          .sum
      case "take" => numbers.filter(_ % 2 == 0).map(_ + 1).take(10).sum
      case "zip" => numbers.map(2 * _ + 1).sum
      case "flatMap" => numbers.map(10 * _ + 45).sum

  def prepare(): Unit =
    items = Array.tabulate[Any](size)(identity)
    if profile == "shared" then
      for
        _ <- 1 to 200
        name <- StreamProtocol.pipes
        way <- List(PushWay, PullWay, TableWay, IteratorWay)
      do way.run(name, items)

  @Benchmark def push(): Long = PushWay.run(pipe, items)
  @Benchmark def pull(): Long = PullWay.run(pipe, items)
  @Benchmark def table(): Long = TableWay.run(pipe, items)
  @Benchmark def iterator(): Long = IteratorWay.run(pipe, items)

  @Benchmark def loop(): Long =
    var sum = 0L
    pipe match
      case "three" => each(a => if a % 2 == 0 then sum += a + 1)
      case "eight" =>
        each(a =>
          if (a + 1) % 3 != 0 && (a + 2) % 5 != 0 && (a + 3) % 7 != 0 && (a + 4) % 11 != 0 then
            sum += a + 4
        )
      case "take" =>
        var left = 10
        var i = 0
        while i < items.length && left > 0 do
          val a = items(i).asInstanceOf[Int]
          if a % 2 == 0 then
            sum += a + 1
            left -= 1
          i += 1
      case "zip" => each(a => sum += a + 1 + a)
      case "flatMap" =>
        each(a =>
          var j = 0
          while j < 10 do
            sum += a + j
            j += 1
        )
    sum

  private inline def each(inline step: Int => Unit): Unit =
    var i = 0
    while i < items.length do
      step(items(i).asInstanceOf[Int])
      i += 1

object StreamProtocol:
  private[bench] val pipes = List("three", "eight", "take", "zip", "flatMap")

/** The five pipes, for any way of handing on. */
private abstract class Way:
  type S
  def from(items: Array[Any]): S
  def map(s: S)(f: Any => Any): S
  def filter(s: S)(keep: Any => Boolean): S
  def take(s: S)(count: Int): S
  def zip(a: S, b: S): S
  def flatMap(s: S)(f: Any => S): S
  def sum(s: S): Long

  private val ten = Array.tabulate[Any](10)(identity)
  // Inlined, so that each stage of a pipe has a function of its own, as pipes have.
  private inline def add(s: S, inline n: Int): S = map(s)(a => a.asInstanceOf[Int] + n)
  private inline def not(s: S, inline n: Int): S = filter(s)(a => a.asInstanceOf[Int] % n != 0)
  private inline def even(s: S): S = filter(s)(a => a.asInstanceOf[Int] % 2 == 0)
  private def both(pair: (Int, Int)): Int = pair._1 + pair._2

  def run(pipe: String, items: Array[Any]): Long =
    val s = from(items)
    sum(pipe match
      case "three" => add(even(s), 1)
      case "eight" => not(add(not(add(not(add(not(add(s, 1), 3), 1), 5), 1), 7), 1), 11)
      case "take" => take(add(even(s), 1))(10)
      case "zip" => map(zip(add(s, 1), from(items)))(a => both(a.asInstanceOf[(Int, Int)]))
      case "flatMap" =>
        flatMap(s)(a => map(from(ten))(b => a.asInstanceOf[Int] + b.asInstanceOf[Int])))
