package weir

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration
import weir.runtime.DurationText
import weir.std.RateLimiter
import weir.stream.*

/** The operators of `Stream` that depend on time: they limit the rate, wait, or end the stream. */
private[weir] transparent trait StreamTimes[+A]:
  self: Stream[A] =>

  /** Emits the elements in groups. A group is complete when it has `size` elements, or when `time`
    * has passed since its first one. No group is empty. While the consumer is busy, up to `size`
    * elements are collected, and one more is pulled from upstream.
    *
    * **Waits** for the first element of a group, then no longer than `time`. **Order**: kept. At
    * the end or after an error, the elements before it are emitted as a group at once, without
    * waiting for `time`.
    * {{{
    * val stored =
    *   Stream.fromIterable(ids).groupWithin(100, 1.second).evalMap(Task.traverse(_)(load))
    * }}}
    */
  final def groupWithin(size: Int, time: FiniteDuration): Stream[Vector[A]] =
    require(size >= 1, s"Stream.groupWithin: the size was $size. It must be at least 1.")
    Stream.positive("groupWithin", "time", time)
    Stream.of(() => GroupWithinStage.groups(open(), size, time.toNanos))

  /** Emits the elements in groups whose weights add up to at most `limit`. A group is complete when
    * its weights add up to `limit`, when the next element does not fit into it, when it has `size`
    * elements, or when `time` has passed since its first one. An element that is heavier than
    * `limit` forms a separate group. No group is empty.
    *
    * `weight` is called once for each element, in their order. Elements of weight 0 count only for
    * `size`. While the consumer is busy, elements are collected until the group is full, and one
    * more is pulled from upstream.
    *
    * **Waits** for the first element of a group, then no longer than `time`. **Fails** with the
    * error that `weight` throws, and with an `IllegalArgumentException` if it returns less than 0,
    * after the elements before. **Order**: as with `groupWithin`.
    * {{{
    * val sent = Stream
    *   .linesOf(path)
    *   .groupWeightedWithin(1_000_000, 1.second, size = 500)(_.length.toLong)
    *   .evalMap(lines => store(lines.mkString("\n")))
    * }}}
    */
  final def groupWeightedWithin(limit: Long, time: FiniteDuration, size: Int = Int.MaxValue)(
      weight: A => Long
  ): Stream[Vector[A]] =
    require(
      limit >= 1 && size >= 1,
      s"Stream.groupWeightedWithin: the limit was $limit and the size $size. " +
        "They must be at least 1."
    )
    Stream.positive("groupWeightedWithin", "time", time)
    val erased = Stream.erased(weight)
    Stream.of(() => GroupWeightedWithinStage.groups(open(), limit, size, time.toNanos, erased))

  /** Emits the same elements, at least `interval` apart. The first is emitted at once. An element
    * that is late does not shorten the interval before the next ones.
    *
    * **Waits** until the element is due. **Cancelled** while it waits.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  final def metered(interval: FiniteDuration): Stream[A] =
    Stream.positive("metered", "interval", interval)
    limited("metered", 1, interval, 1)(limiter => evalTap(_ => limiter.acquire))

  /** Emits the same elements, evenly spaced, at most `count` in each period `per`. After a pause,
    * `burst` of them may be emitted at once. `RateLimiter` explains how they are counted.
    *
    * **Waits** until the element is due. **Cancelled** while it waits.
    * {{{
    * val sent = Stream.emits(requests).throttle(100, 1.second, burst = 10).evalMap(store)
    * }}}
    */
  final def throttle(count: Int, per: FiniteDuration, burst: Int = 1): Stream[A] =
    limited("throttle", count, per, burst)(limiter => evalTap(_ => limiter.acquire))

  /** Emits the same elements. **Fails** with `RateExceeded` at the first element that arrives
    * faster than `throttle` would let it pass.
    * {{{
    * val orFails = Stream.repeatEval(configChanged).throttleEnforcing(5, 1.minute)
    * }}}
    */
  final def throttleEnforcing(count: Int, per: FiniteDuration, burst: Int = 1): Stream[A] =
    limited("throttleEnforcing", count, per, burst)(limiter =>
      evalTap(_ =>
        limiter.tryAcquire.flatMap(isInTime =>
          if isInTime then Task.unit else Task.fail(RateExceeded(count, per, burst))
        )
      )
    )

  private def limited(operator: String, count: Int, per: FiniteDuration, burst: Int)(
      use: RateLimiter => Stream[A]
  ): Stream[A] =
    require(
      count >= 1 && burst >= 1 && per.toNanos >= 1,
      s"Stream.$operator: the count was $count, the time $per and the burst $burst. " +
        "They must be at least 1, 1 ns and 1."
    )
    RateLimiter.check(s"Stream.$operator", count, per, burst)
    Stream.eval(RateLimiter(count, per, burst)).flatMap(use)

  /** Emits the same elements, and pauses for `delay` before each except the first. The pause begins
    * when the element has been pulled from upstream, after the use of the one before it.
    * {{{
    * val polite = Stream.emits(urls).spaced(1.second).map(fetch)
    * }}}
    */
  final def spaced(delay: FiniteDuration): Stream[A] =
    Stream.positive("spaced", "delay", delay)
    zipWithIndex.evalMap((a, n) => if n == 0 then Task.pure(a) else Task.sleep(delay).as(a))

  /** Emits the same elements, after a pause of `duration` before the first is asked for. For a
    * pause between elements, use `spaced`.
    * {{{
    * val polled = Stream.repeatEval(configChanged).delayBy(1.minute)
    * }}}
    */
  final def delayBy(duration: FiniteDuration): Stream[A] = Stream.exec(Task.sleep(duration)) ++ this

  /** Emits an element once no other has followed it for `time`. Of many elements in quick
    * succession, only the last is emitted. The last element of the stream is emitted at its end, or
    * before its error.
    *
    * Upstream runs on a separate fiber and does not wait for the consumer. While the consumer is
    * busy, only the latest element is kept for it.
    * {{{
    * val reloaded = Stream.repeatEval(configChanged).debounce(1.second)
    * }}}
    */
  final def debounce(time: FiniteDuration): Stream[A] =
    Stream.positive("debounce", "time", time)
    Stream.of(() => DebounceStage(open(), time.toNanos))

  /** Emits the latest element at the end of each `period` in which one arrived. The last element of
    * the stream is emitted at its end, or before its error. Upstream runs on a separate fiber and
    * does not wait for the consumer.
    * {{{
    * val shown =
    *   Stream.emits(ids).evalMap(visitsOf).sample(1.second).evalMap(n => Task(log(s"$n")))
    * }}}
    */
  final def sample(period: FiniteDuration): Stream[A] =
    Stream.positive("sample", "period", period)
    Stream.of(() => SampleStage(open(), period.toNanos))

  /** Emits the same elements, and `filler` whenever the consumer has waited for an element for
    * `idle`. No element is made ahead of demand.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path).keepAlive(15.seconds, ": still here")
    * }}}
    */
  final def keepAlive[B >: A](idle: FiniteDuration, filler: B): Stream[B] =
    Stream.positive("keepAlive", "time", idle)
    Stream.of(() => IdleStage(open(), idle.toNanos, () => filler))

  /** Emits the same elements. **Fails** with a `TimeoutException` if the stream has not ended
    * within `total` of the first element that was asked for; its work is then cancelled. The time
    * that the consumer takes counts too.
    * {{{
    * val users: Task[List[User]] = Stream.emits(ids).evalMap(load).timeout(10.seconds).toList
    * }}}
    */
  final def timeout(total: FiniteDuration): Stream[A] =
    val error = () => TimeoutException(s"The stream did not end within ${DurationText(total)}.")
    val tooLate = Task.defer(Task.fail(error()))
    beside(Task.sleep(total).andThen(tooLate), ends = false)

  /** Emits the same elements. **Fails** with a `TimeoutException` if the consumer has waited for an
    * element for longer than `limit`; the work of this stream is then cancelled. The time that the
    * consumer takes does not count. No element is made ahead of demand.
    * {{{
    * val alive: Stream[Array[Byte]] = Stream.tailOf(path).idleTimeout(30.seconds)
    * }}}
    */
  final def idleTimeout(limit: FiniteDuration): Stream[A] =
    Stream.positive("idleTimeout", "limit", limit)
    val error = () => TimeoutException(s"The stream had no element within ${DurationText(limit)}.")
    Stream.of(() => IdleStage.timeout(open(), limit.toNanos, error))
