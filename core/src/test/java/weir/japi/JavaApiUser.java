package weir.japi;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;

/** A program in Java that uses each class of weir.japi; JavaApiSuite checks the results. */
final class JavaApiUser {
  private JavaApiUser() {}

  // ---- tasks ----

  static List<Object> tasks() throws Exception {
    List<Object> seen = new ArrayList<>();
    Task<Integer> one = Task.of(() -> 1);
    seen.add(one.map(n -> n + 1).flatMap(n -> Task.pure(n * 2)).runSync());
    seen.add(one.andThen(Task.pure("next")).runSync());
    seen.add(one.flatTap(n -> Task.ofVoid(() -> seen.add("tap " + n))).runSync());
    seen.add(one.both(Task.pure("b"), (n, s) -> s + n).runSync());
    seen.add(one.race(Task.never()).runSync());
    seen.add(Task.raceAll(List.of(Task.<Integer>never(), one)).runSync());
    seen.add(Task.defer(() -> Task.pure("deferred")).runSync());
    seen.add(Task.sleep(Duration.ofNanos(1)).runSync());
    seen.add(Task.fromStage(() -> CompletableFuture.completedFuture("stage")).runSync());
    seen.add(Task.parSequence(2, List.of(one, Task.pure(2))).runSync());
    seen.add(Task.parTraverse(2, List.of(1, 2, 3), n -> Task.of(() -> n * n)).runSync());
    seen.add(one.delayBy(Duration.ofNanos(1)).toCompletableFuture().get());
    seen.add(Task.from(one.asScala()).runSync());
    return seen;
  }

  static List<Object> moreTasks() throws Exception {
    List<Object> seen = new ArrayList<>();
    Task<Integer> one = Task.of(() -> 1);
    Task<Integer> failing = Task.fail(new IOException("none"));
    seen.add(failing.orElse(one).runSync());
    Outcome<Integer> failed = failing.attempt().runSync();
    seen.add(failed.isFailed() + " " + failed.error().get().getMessage());
    seen.add(one.attempt().map(Outcome::isSucceeded).runSync());
    seen.add(Task.firstSuccess(List.of(failing, Task.<Integer>never(), one)).runSync());
    seen.add(Task.traverse(List.of(1, 2, 3), n -> Task.of(() -> -n)).runSync());
    Task<String> used =
        one.bracket(n -> Task.pure("used " + n), n -> Task.ofVoid(() -> seen.add("released " + n)));
    seen.add(used.runSync());
    one.guaranteeCase(end -> Task.ofVoid(() -> seen.add("ended with " + end.get()))).runSync();
    seen.add(Task.uninterruptible(() -> "whole").runSync());
    seen.add(Task.onPlatformThread(() -> Thread.currentThread().isVirtual()).runSync());
    Fiber<Integer> fiber = one.start().runSync();
    seen.add(fiber.outcome().runSync().get());
    Fiber<Integer> endless = Task.<Integer>never().start().runSync();
    endless.cancel();
    seen.add(endless.outcome().runSync().isCancelled());
    return seen;
  }

  // ---- between fibers ----

  static List<Object> primitives() throws Exception {
    List<Object> seen = new ArrayList<>();

    Queue<String> queue = Queue.<String>bounded(2).named("java queue");
    seen.add(queue.offerAll(List.of("a", "b")).andThen(queue.tryOffer("c")).runSync());
    seen.add(queue.take().runSync() + queue.tryTake().runSync() + queue.tryTake().runSync());
    seen.add(queue.offer("d").andThen(queue.size()).runSync());
    seen.add(queue.takeBetween(1, 5).runSync());
    Queue<Integer> latest = Queue.sliding(1);
    seen.add(latest.offerAll(List.of(1, 2)).andThen(latest.take()).runSync());

    Channel<Integer> channel = Channel.bounded(4);
    seen.add(channel.send(1).andThen(channel.trySend(2)).andThen(channel.close()).runSync());
    seen.add(channel.stream().toList().runSync());
    seen.add(channel.isClosed().runSync());
    try {
      channel.send(3).runSync();
    } catch (weir.ChannelClosed e) {
      seen.add("closed");
    }

    Semaphore permits = Semaphore.of(2);
    seen.add(permits.withPermit(permits.available()).runSync());
    seen.add(permits.withPermits(2, permits.available()).runSync());

    RateLimiter limiter = RateLimiter.of(1, Duration.ofHours(1));
    seen.add(limiter.limit(limiter.tryAcquire()).runSync());

    Cache<Integer, String> cache = Cache.of(10, Duration.ofHours(1));
    seen.add(cache.get(1, n -> Task.pure("loaded " + n)).runSync());
    seen.add(cache.get(1, n -> Task.fail(new IOException())).runSync());
    seen.add(cache.invalidate(1).andThen(cache.getIfPresent(1)).runSync());

    Resource<String> parser = Resource.make(() -> "parser", p -> seen.add(p + " released"));
    seen.add(
        Pool.of(parser, 1)
            .useTask(pool -> pool.use(String::length).andThen(pool.useTask(Task::pure)))
            .runSync());

    CircuitBreaker breaker = CircuitBreaker.of(1, Duration.ofHours(1));
    breaker.protect(Task.fail(new IOException("down"))).attempt().runSync();
    seen.add(breaker.isOpen().runSync());
    Outcome<Integer> refused = breaker.protect(Task.of(() -> 1)).attempt().runSync();
    seen.add(refused.error().get().getClass().getSimpleName());

    TaskLocal<String> user = TaskLocal.of("nobody");
    seen.add(user.locally("ann", Task.of(user::current)).runSync());
    seen.add(user.set("bob").andThen(user.get()).runSync());
    seen.add(user.get().runSync());
    return seen;
  }

  static List<Object> errors() throws Exception {
    List<Object> seen = new ArrayList<>();
    Task<String> failing =
        Task.of(
            () -> {
              throw new IOException("none");
            });
    seen.add(failing.recover(IOException.class, Throwable::getMessage).runSync());
    seen.add(failing.recoverWith(IOException.class, e -> Task.pure("other")).runSync());
    seen.add(failing.handleErrorWith(e -> Task.pure("any")).runSync());
    try {
      failing.recover(IllegalStateException.class, e -> "wrong").runSync();
    } catch (IOException e) {
      seen.add("not recovered");
    }
    int[] runs = {0};
    Task<Integer> third =
        Task.of(
            () -> {
              if (++runs[0] < 3) throw new IOException("run " + runs[0]);
              return runs[0];
            });
    seen.add(third.retry(Schedule.recurs(5)).runSync());
    runs[0] = 0;
    try {
      third.retryWhen(Schedule.forever(), e -> e instanceof IllegalStateException).runSync();
    } catch (IOException e) {
      seen.add(e.getMessage());
    }
    runs[0] = 10;
    seen.add(third.repeat(Schedule.recurs(4)).runSync());
    seen.add(third.guarantee(Task.ofVoid(() -> seen.add("finalizer"))).runSync());
    return seen;
  }

  /** Returns the names of the parts that have run, of a task that is cancelled by its future. */
  static List<Object> cancelled() throws Exception {
    List<Object> seen = new CopyOnWriteArrayList<>();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    CompletableFuture<Object> future =
        Task.<Object>of(
                () -> {
                  begun.countDown();
                  Thread.sleep(3_600_000);
                  return "late";
                })
            .onCancel(Task.ofVoid(() -> seen.add("cancelled")))
            .guarantee(Task.ofVoid(over::countDown))
            .toCompletableFuture();
    begun.await();
    seen.add(future.cancel(true));
    over.await();
    return seen.reversed();
  }

  static Schedule schedule() {
    return Schedule.exponential(Duration.ofMillis(10))
        .capped(Duration.ofMillis(30))
        .mapDelay(delay -> delay.plusMillis(1))
        .times(4)
        .upTo(Duration.ofHours(1))
        .andThen(Schedule.spaced(Duration.ofMillis(5)).times(1));
  }

  // ---- scopes and resources ----

  static List<Object> scopes() throws Exception {
    List<Object> seen = new ArrayList<>();
    seen.add(
        Scope.<Integer>run(
                scope -> {
                  Fiber<Integer> a = scope.fork(() -> 1);
                  Fiber<Integer> b = scope.forkTask(Task.pure(2));
                  Fiber<Object> c = scope.forkTask(Task.never());
                  c.cancel();
                  return a.join() + b.joinTask().runSync();
                })
            .runSync());
    try {
      Scope.run(
              scope -> {
                scope.forkTask(Task.fail(new IOException("child")));
                Thread.sleep(3_600_000);
                return "late";
              })
          .runSync();
    } catch (IOException e) {
      seen.add(e.getMessage());
    }
    try {
      Scope.runAll(
              scope -> {
                scope.forkTask(Task.fail(new IOException("first")));
                scope.fork(() -> seen.add("the other one ends"));
                return "body";
              })
          .runSync();
    } catch (IOException e) {
      seen.add(e.getMessage());
    }
    return seen;
  }

  static List<Object> resources() throws Exception {
    List<Object> seen = new ArrayList<>();
    Resource<String> a = Resource.make(() -> "a", name -> seen.add("-" + name));
    Resource<String> b =
        a.flatMap(name -> Resource.make(() -> name + "b", inner -> seen.add("-" + inner)));
    seen.add(b.use(name -> name + "!").runSync());
    seen.add(b.map(String::length).useTask(n -> Task.pure(n + 1)).runSync());
    seen.add(a.both(Resource.make(() -> "c", c -> {}), (x, y) -> x + y).use(s -> s).runSync());
    try {
      a.use(
              name -> {
                throw new IOException("in use of " + name);
              })
          .runSync();
    } catch (IOException e) {
      seen.add(e.getMessage());
    }
    try (Opened<String> opened =
        a.onFinalize(Task.ofVoid(() -> seen.add("finalizer"))).open()) {
      seen.add("open " + opened.get());
    }
    AutoCloseable closeable = () -> seen.add("closed");
    seen.add(Resource.fromAutoCloseable(() -> closeable).use(c -> c == closeable).runSync());
    weir.Task<String> waits = Task.<String>never().asScala();
    Resource<String> never = a.flatMap(name -> Resource.from(weir.Resource.eval(waits)));
    try {
      never.timeout(Duration.ofMillis(500)).use(name -> name).runSync();
    } catch (java.util.concurrent.TimeoutException e) {
      seen.add("in time: " + a.timeout(Duration.ofDays(1)).use(name -> name).runSync());
    }
    return seen;
  }

  // ---- streams ----

  static List<Object> streams() throws Exception {
    List<Object> seen = new ArrayList<>();
    Stream<Integer> ten = Stream.range(0, 10);
    seen.add(ten.map(n -> n * 2).filter(n -> n > 10).toList().runSync());
    seen.add(ten.drop(2).take(2).flatMap(n -> Stream.of(n, -n)).toList().runSync());
    seen.add(ten.takeWhile(n -> n < 3).mapConcat(n -> List.of(n, n)).toList().runSync());
    seen.add(ten.chunkN(4).toList().runSync());
    seen.add(ten.take(3).scan("", (text, n) -> text + n).toList().runSync());
    seen.add(ten.zipWith(Stream.of("a", "b"), (n, s) -> s + n).toList().runSync());
    Resource<Integer> hundred = Resource.make(() -> 100, n -> seen.add("closed"));
    Stream<Integer> later = Stream.of(1, 2).delayBy(Duration.ofMillis(1));
    seen.add(later.mapWithResource(hundred, Integer::sum).toList().runSync());
    seen.add(Stream.of("a").concat(Stream.of("b")).toList().runSync());
    seen.add(ten.evalMap(n -> Task.of(() -> n + 1)).fold(0, Integer::sum).runSync());
    seen.add(ten.parEvalMap(4, n -> Task.of(() -> n + 1)).count().runSync());
    seen.add(ten.parEvalMapUnordered(4, Task::pure).fold(0, Integer::sum).runSync());
    seen.add(ten.merge(ten).fold(0, Integer::sum).runSync());
    seen.add(ten.prefetchN(3).head().runSync());
    seen.add(Stream.empty().head().runSync());
    seen.add(
        Stream.<String>fail(new IOException("broken"))
            .handleErrorWith(e -> Stream.of(e.getMessage()))
            .toList()
            .runSync());
    seen.add(Stream.fromIterable(List.of(1, 2)).toList().runSync());
    seen.add(Stream.fromIterator(() -> List.of(3).iterator()).toList().runSync());
    Stream<Integer> fives = Stream.repeatEval(Task.pure(5));
    seen.add(Stream.eval(Task.pure(4)).concat(fives).take(2).toList().runSync());
    int[] left = {2};
    Task<Optional<Integer>> poll =
        Task.of(() -> left[0] > 0 ? Optional.of(left[0]--) : Optional.empty());
    seen.add(Stream.repeatEvalOptional(poll).toList().runSync());
    ten.take(2).evalTap(n -> Task.ofVoid(() -> seen.add("tap"))).drain().runSync();
    ten.take(1).onFinalize(Task.ofVoid(() -> seen.add("over"))).forEach(seen::add).runSync();
    seen.add(
        Stream.resource(Resource.make(() -> "r", r -> seen.add("released")))
            .toList()
            .runSync());
    seen.add(ten.interruptWhen(Task.never()).timeout(Duration.ofHours(1)).count().runSync());
    seen.add(Stream.awakeEvery(Duration.ofMillis(1)).take(2).count().runSync());
    seen.add(ten.metered(Duration.ofNanos(1)).retry(Schedule.recurs(1)).count().runSync());
    seen.add(
        ten.groupWithin(20, Duration.ofHours(1)).map(List::size).toList().runSync());
    seen.add(
        ten.take(4)
            .groupWeightedWithin(3, Duration.ofHours(1), Integer::longValue)
            .toList()
            .runSync());
    return seen;
  }

  static List<Object> otherStreams() throws Exception {
    List<Object> seen = new ArrayList<>();
    Stream<Integer> three =
        Stream.range(0, 3).onFinalize(Task.ofVoid(() -> seen.add("over")));
    try (java.util.stream.Stream<Integer> jdk = three.toJavaStream()) {
      seen.add(jdk.limit(2).toList());
    }
    Stream<String> lines = Stream.fromJavaStream(() -> "a\nb".lines());
    seen.add(lines.toList().runSync());
    seen.add(lines.toList().runSync());
    Flow.Publisher<String> publisher = lines.toPublisher();
    seen.add(Stream.fromPublisher(publisher, 2).toList().runSync());
    Resource<Flow.Publisher<String>> publishers = lines.toPublisherResource();
    Stream<String> published =
        Stream.resource(publishers).flatMap(open -> Stream.fromPublisher(open, 2));
    seen.add(published.toList().runSync());
    Flow.Publisher<String> closed = publishers.use(open -> open).runSync();
    try {
      Stream.fromPublisher(closed, 2).toList().runSync();
    } catch (IllegalStateException error) {
      seen.add("closed");
    }
    Flow.Processor<String, Integer> processor =
        Stream.processor(in -> in.map(String::length), 8);
    CompletableFuture<List<Integer>> lengths =
        Stream.fromPublisher(processor, 4).toList().toCompletableFuture();
    try (SubmissionPublisher<String> source = new SubmissionPublisher<>()) {
      source.subscribe(processor);
      source.submit("one");
      source.submit("three");
    }
    seen.add(lengths.get());
    seen.add(Stream.from(three.asScala()).take(1).toList().runSync());
    return seen;
  }
}
