package jobs;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import weir.Task;
import weir.japi.Tasks;

/** Twenty slow calls at the same time, with a time limit; a cancel; a call that fails. */
final class Main {
  public static void main(String[] args) throws Exception {
    var running = new AtomicInteger();
    var most = new AtomicInteger();

    List<Task<Integer>> calls = IntStream.rangeClosed(1, 20)
        .mapToObj(id -> Tasks.<Integer>of(() -> call(id, running, most)))
        .toList();
    var all = Tasks.parSequence(20, calls);

    List<Integer> answers = Tasks.runSync(Tasks.timeout(all, Duration.ofSeconds(10)));
    System.out.println("the sum is " + answers.stream().mapToInt(i -> i).sum());
    check(answers.equals(IntStream.rangeClosed(1, 20).map(i -> i * i).boxed().toList()));
    check(most.get() > 1);

    CompletableFuture<Integer> later =
        Tasks.toCompletableFuture(Tasks.<Integer>of(() -> call(7, running, most)).map(n -> n + 1));
    check(later.get() == 50);

    try {
      Tasks.<String>runSync(Tasks.of(() -> { throw new IOException("no answer"); }));
      check(false);
    } catch (IOException error) { // as it was thrown
      System.out.println("failed as it should: " + error.getMessage());
    }
  }

  private static int call(int id, AtomicInteger running, AtomicInteger most)
      throws InterruptedException {
    most.accumulateAndGet(running.incrementAndGet(), Math::max);
    Thread.sleep(100); // as a call of a service would
    running.decrementAndGet();
    return id * id;
  }

  private static void check(boolean holds) {
    if (!holds) throw new AssertionError("not as expected");
  }
}
