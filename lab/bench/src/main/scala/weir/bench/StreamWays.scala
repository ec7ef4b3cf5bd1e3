package weir.bench

import java.util.{ArrayDeque, Iterator as JavaIterator}

/** A stage calls the one below it; false asks the one above to stop. */
private trait Sink { def apply(a: Any): Boolean }
private trait Push { def run(sink: Sink): Boolean }

private object PushWay extends Way:
  type S = Push
  def from(items: Array[Any]): Push = sink =>
    var i = 0
    while i < items.length && sink(items(i)) do i += 1
    i == items.length
  def map(s: Push)(f: Any => Any): Push = sink => s.run(a => sink(f(a)))
  def filter(s: Push)(keep: Any => Boolean): Push = sink => s.run(a => !keep(a) || sink(a))
  def take(s: Push)(count: Int): Push = sink =>
    var left = count
    s.run { a =>
      left -= 1
      sink(a) && left > 0
    }
  // Push cannot wait for the other side, so it must be pulled, on a thread of its own, or be kept:
  // this keeps all of it, which costs less than a thread and is wrong for a stream without end.
  def zip(a: Push, b: Push): Push = sink =>
    val kept = ArrayDeque[Any]()
    b.run(kept.add(_))
    a.run(x => !kept.isEmpty && sink((x, kept.poll())))
  def flatMap(s: Push)(f: Any => Push): Push = sink => s.run(a => f(a).run(sink))
  def sum(s: Push): Long =
    var sum = 0L
    s.run { a =>
      sum += a.asInstanceOf[Int]
      true
    }
    sum

/** A stage asks the one above it for an element or the end. */
private abstract class Pulled { def next(): Any }
private object End
private inline def isEnd(a: Any): Boolean = a.asInstanceOf[AnyRef] eq End

private class PullWay extends Way:
  type S = Pulled
  def from(items: Array[Any]): Pulled = new Pulled:
    private var i = -1
    def next(): Any =
      i += 1
      if i < items.length then items(i) else End
  def map(s: Pulled)(f: Any => Any): Pulled = () =>
    val a = s.next()
    if isEnd(a) then End else f(a)
  def filter(s: Pulled)(keep: Any => Boolean): Pulled = () =>
    var a = s.next()
    while !isEnd(a) && !keep(a) do a = s.next()
    a
  def take(s: Pulled)(count: Int): Pulled = new Pulled:
    private var left = count
    def next(): Any =
      left -= 1
      if left >= 0 then s.next() else End
  def zip(a: Pulled, b: Pulled): Pulled = () =>
    val x = a.next()
    val y = if isEnd(x) then End else b.next()
    if isEnd(y) then End else (x, y)
  def flatMap(s: Pulled)(f: Any => Pulled): Pulled = new Pulled:
    private var inner: Pulled | Null = null
    def next(): Any =
      var a: Any = if inner eq null then End else inner.nn.next()
      while isEnd(a) do
        val outer = s.next()
        if isEnd(outer) then return End
        inner = f(outer)
        a = inner.nn.next()
      a
  def sum(s: Pulled): Long =
    var sum = 0L
    var a = s.next()
    while !isEnd(a) do
      sum += a.asInstanceOf[Int]
      a = s.next()
    sum
private object PullWay extends PullWay

/** Maps and filters as rows of a table: true is a filter. */
private final class Table(source: Pulled, val filters: Array[Boolean], val ops: Array[Any => Any])
    extends Pulled:
  def and(isFilter: Boolean, op: Any => Any): Table = Table(source, filters :+ isFilter, ops :+ op)
  def next(): Any =
    while true do
      var a = source.next()
      if isEnd(a) then return End
      var i = 0
      while i < ops.length do
        val b = ops(i)(a)
        if !filters(i) then a = b
        else if b.asInstanceOf[AnyRef] eq java.lang.Boolean.FALSE then i = ops.length
        i += 1
      if i == ops.length then return a
    End

private object TableWay extends PullWay:
  private def table(s: Pulled): Table = s match
    case s: Table => s
    case s => Table(s, Array(), Array())
  override def map(s: Pulled)(f: Any => Any): Pulled = table(s).and(false, f)
  override def filter(s: Pulled)(keep: Any => Boolean): Pulled = table(s).and(true, keep(_))

/** A stage is asked whether there is an element, then for it. */
private object IteratorWay extends Way:
  type S = JavaIterator[Any]
  def from(items: Array[Any]): S = new JavaIterator[Any]:
    private var i = 0
    def hasNext: Boolean = i < items.length
    def next(): Any = { i += 1; items(i - 1) }
  def map(s: S)(f: Any => Any): S = new JavaIterator[Any]:
    def hasNext: Boolean = s.hasNext
    def next(): Any = f(s.next())
  def filter(s: S)(keep: Any => Boolean): S = new JavaIterator[Any]:
    private var ahead: Any = End
    def hasNext: Boolean =
      while isEnd(ahead) && s.hasNext do
        val a = s.next()
        if keep(a) then ahead = a
      !isEnd(ahead)
    def next(): Any =
      hasNext
      val a = ahead
      ahead = End
      a
  def take(s: S)(count: Int): S = new JavaIterator[Any]:
    private var left = count
    def hasNext: Boolean = left > 0 && s.hasNext
    def next(): Any = { left -= 1; s.next() }
  def zip(a: S, b: S): S = new JavaIterator[Any]:
    def hasNext: Boolean = a.hasNext && b.hasNext
    def next(): Any = (a.next(), b.next())
  def flatMap(s: S)(f: Any => S): S = new JavaIterator[Any]:
    private var inner: S = from(Array())
    def hasNext: Boolean =
      while !inner.hasNext && s.hasNext do inner = f(s.next())
      inner.hasNext
    def next(): Any = { hasNext; inner.next() }
  def sum(s: S): Long =
    var sum = 0L
    while s.hasNext do sum += s.next().asInstanceOf[Int]
    sum
