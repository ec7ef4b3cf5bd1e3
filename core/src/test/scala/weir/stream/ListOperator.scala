package weir.stream

import weir.{Resource, Stream, Task}

/** An operator that stays on one fiber, with a number as its argument, and the same operation on a
  * list.
  */
private final case class ListOperator(
    name: String,
    onStream: (Stream[Int], Int) => Stream[Any],
    onList: (List[Int], Int) => List[Any]
)

private object ListOperator:
  private def windows(items: List[Int], size: Int, step: Int): List[Vector[Int]] =
    items.sliding(size, step).map(_.toVector).toList match
      // A window that is not full repeats elements only if the whole list is smaller.
      case all if all.size > 1 && all.last.size <= math.max(0, size - step) => all.init
      case all => all

  private def adjacent(items: List[Int])(key: Int => Int): List[(Int, Vector[Int])] =
    items
      .foldLeft(List.empty[(Int, Vector[Int])]) {
        case ((k, group) :: rest, x) if k == key(x) => (k, group :+ x) :: rest
        case (groups, x) => (key(x), Vector(x)) :: groups
      }
      .reverse

  private def sections(items: List[Int])(at: Int => Boolean): List[Vector[Int]] =
    val all = items.foldLeft(List(Vector.empty[Int]))((groups, x) =>
      if at(x) then Vector.empty :: groups else (groups.head :+ x) :: groups.tail
    )
    (if all.head.isEmpty then all.tail else all).reverse

  val all: List[ListOperator] = List(
    ListOperator("filterNot", (s, n) => s.filterNot(_ % 3 == n), (l, n) => l.filterNot(_ % 3 == n)),
    ListOperator(
      "evalFilter",
      (s, n) => s.evalFilter(x => Task(x % 3 == n)),
      (l, n) => l.filter(_ % 3 == n)
    ),
    ListOperator(
      "evalCollect",
      (s, n) => s.evalCollect(x => Task.cede.as(Option.when(x > n)(x + 1))),
      (l, n) => l.collect { case x if x > n => x + 1 }
    ),
    ListOperator(
      "evalScan",
      (s, n) => s.evalScan(n)((a, b) => Task(a - b)),
      (l, n) => l.scanLeft(n)(_ - _)
    ),
    ListOperator(
      "evalMapAccumulate",
      (s, n) => s.evalMapAccumulate(n)((a, b) => Task((a + 1, a * b))),
      (l, n) => l.zipWithIndex.map((b, i) => (n + i) * b)
    ),
    ListOperator(
      "unNone",
      (s, n) => s.map(x => Option.when(x > n)(x)).unNone,
      (l, n) => l.filter(_ > n)
    ),
    ListOperator(
      "unNoneTerminate",
      (s, n) => s.map(x => Option.when(x != n)(x)).unNoneTerminate,
      (l, n) => l.takeWhile(_ != n)
    ),
    ListOperator("rethrow", (s, _) => s.map(Right(_): Either[Throwable, Int]).rethrow, (l, _) => l),
    ListOperator("attempt", (s, _) => s.attempt, (l, _) => l.map(Right(_))),
    ListOperator("as", (s, n) => s.as(n), (l, n) => l.map(_ => n)),
    ListOperator("void", (s, _) => s.void, (l, _) => l.map(_ => ())),
    ListOperator(
      "flatten",
      (s, n) => s.map(x => Stream(x, n)).flatten,
      (l, n) => l.flatMap(List(_, n))
    ),
    ListOperator("prepend", (s, n) => s.prepend(n), (l, n) => n :: l),
    ListOperator(
      "ifEmpty",
      (s, n) => s.ifEmpty(Stream(n)),
      (l, n) => if l.isEmpty then List(n) else l
    ),
    ListOperator("repeatN", (s, n) => s.repeatN(n), (l, n) => List.fill(n)(l).flatten),
    ListOperator(
      "repeat",
      (s, n) => s.prepend(7).repeat.take(n * 5),
      (l, n) => LazyList.continually(7 :: l).flatten.take(n * 5).toList
    ),
    ListOperator("takeRight", (s, n) => s.takeRight(n), (l, n) => l.takeRight(n)),
    ListOperator("dropRight", (s, n) => s.dropRight(n), (l, n) => l.dropRight(n)),
    ListOperator(
      "changesBy",
      (s, n) => s.changesBy(_ / (n + 1)),
      (l, n) => adjacent(l)(_ / (n + 1)).map(_._2.head)
    ),
    ListOperator("distinct", (s, _) => s.distinct, (l, _) => l.distinct),
    ListOperator(
      "distinctBy",
      (s, n) => s.distinctBy(_ % (n + 1)),
      (l, n) => l.distinctBy(_ % (n + 1))
    ),
    ListOperator(
      "zipWith",
      (s, n) => s.zipWith(Stream.range(0, n))(_ * _),
      (l, n) => l.zip(0 until n).map(_ * _)
    ),
    ListOperator(
      "zipAll",
      (s, n) => s.zipAll(Stream.range(0, n))(-1, -2),
      (l, n) => l.zipAll(0 until n, -1, -2)
    ),
    ListOperator(
      "zipAllWith",
      (s, n) => s.zipAllWith(Stream.range(0, n * 2))(-1, -2)(_ * _),
      (l, n) => l.zipAll(0 until n * 2, -1, -2).map(_ * _)
    ),
    ListOperator(
      "zipWithNext",
      (s, _) => s.zipWithNext,
      (l, _) => l.zipAll(l.drop(1).map(Some(_)), 0, None)
    ),
    ListOperator(
      "zipWithPrevious",
      (s, _) => s.zipWithPrevious,
      (l, _) => (None :: l.map(Some(_))).zip(l)
    ),
    ListOperator(
      "interleave",
      (s, n) => s.interleave(Stream.range(0, n)),
      (l, n) => l.zip(0 until n).flatMap((a, b) => List(a, b))
    ),
    ListOperator(
      "intersperse",
      (s, n) => s.intersperse(n),
      (l, n) => l.flatMap(x => List(n, x)).drop(1)
    ),
    ListOperator("sliding", (s, n) => s.sliding(n + 1), (l, n) => windows(l, n + 1, 1)),
    ListOperator("sliding by steps", (s, n) => s.sliding(3, n + 1), (l, n) => windows(l, 3, n + 1)),
    ListOperator(
      "groupAdjacentBy",
      (s, n) => s.groupAdjacentBy(_ / (n + 1)),
      (l, n) => adjacent(l)(_ / (n + 1))
    ),
    ListOperator("split", (s, n) => s.split(_ % 4 == n), (l, n) => sections(l)(_ % 4 == n)),
    ListOperator("through", (s, n) => s.through(_.map(_ + n)), (l, n) => l.map(_ + n)),
    ListOperator("orElse", (s, n) => s.orElse(Stream(n)), (l, _) => l),
    ListOperator("onError", (s, _) => s.onError { case _ => Task.unit }, (l, _) => l),
    ListOperator(
      "adaptError",
      (s, _) => s.adaptError { case _ => RuntimeException("other") },
      (l, _) => l
    ),
    // Those that may be steps of one loop, too.
    ListOperator("map", (s, n) => s.map(_ * n), (l, n) => l.map(_ * n)),
    ListOperator("filter", (s, n) => s.filter(_ % 4 != n), (l, n) => l.filter(_ % 4 != n)),
    ListOperator(
      "collect",
      (s, n) => s.collect { case x if x > n => x - n },
      (l, n) => l.collect { case x if x > n => x - n }
    ),
    ListOperator("evalMap", (s, n) => s.evalMap(x => Task(x + n)), (l, n) => l.map(_ + n)),
    ListOperator("evalTap", (s, n) => s.evalTap(x => Task.when(x > n)(Task.cede)), (l, _) => l),
    ListOperator("take", (s, n) => s.take(n * 3), (l, n) => l.take(n * 3)),
    ListOperator("drop", (s, n) => s.drop(n), (l, n) => l.drop(n)),
    ListOperator("takeWhile", (s, n) => s.takeWhile(_ % 9 != n), (l, n) => l.takeWhile(_ % 9 != n)),
    ListOperator(
      "takeThrough",
      (s, n) => s.takeThrough(_ % 9 != n),
      (l, n) => { val (a, b) = l.span(_ % 9 != n); a ++ b.take(1) }
    ),
    ListOperator("dropWhile", (s, n) => s.dropWhile(_ > n), (l, n) => l.dropWhile(_ > n)),
    ListOperator(
      "mapWithResource",
      (s, n) => s.mapWithResource(Resource.make(Task.cede.as(n))(_ => Task.cede))(_ + _),
      (l, n) => l.map(_ + n)
    ),
    ListOperator("scan", (s, n) => s.scan(n)(_ - _), (l, n) => l.scanLeft(n)(_ - _)),
    ListOperator(
      "mapAccumulate",
      (s, n) => s.mapAccumulate(n)((a, b) => (a + 1, a * b)),
      (l, n) => l.zipWithIndex.map((b, i) => (n + i) * b)
    ),
    ListOperator(
      "zipWithIndex",
      (s, _) => s.zipWithIndex,
      (l, _) => l.zipWithIndex.map((x, i) => (x, i.toLong))
    ),
    ListOperator(
      "mapConcat",
      (s, n) => s.mapConcat(List.fill(n)),
      (l, n) => l.flatMap(List.fill(n))
    ),
    ListOperator("changes", (s, _) => s.changes, (l, _) => adjacent(l)(identity).map(_._2.head)),
    // Others.
    ListOperator(
      "flatMap",
      (s, n) => s.flatMap(x => if x % 3 == n then Stream.empty else Stream(x, n) ++ Stream(n)),
      (l, n) => l.flatMap(x => if x % 3 == n then Nil else List(x, n, n))
    ),
    ListOperator(
      "chunkN",
      (s, n) => s.chunkN(n + 1),
      (l, n) => l.grouped(n + 1).toList.map(_.toVector)
    ),
    ListOperator("zip", (s, n) => s.zip(Stream.range(0, n * 3)), (l, n) => l.zip(0 until n * 3)),
    ListOperator("++", (s, n) => s ++ Stream.range(0, n), (l, n) => l ++ (0 until n)),
    ListOperator("++ on the right", (s, n) => Stream.range(0, n) ++ s, (l, n) => (0 until n) ++: l),
    ListOperator("recover", (s, n) => s.recover { case _: MatchError => n }, (l, _) => l),
    ListOperator("handleErrorWith", (s, _) => s.handleErrorWith(Stream.fail), (l, _) => l),
    ListOperator("onFinalize", (s, _) => s.onFinalize(Task.cede), (l, _) => l),
    ListOperator("named", (s, _) => s.named("here"), (l, _) => l),
    ListOperator(
      "evalMap that suspends",
      (s, n) => s.evalMap(x => Task.cede.as(x + n)),
      (l, n) => l.map(_ + n)
    )
  )
