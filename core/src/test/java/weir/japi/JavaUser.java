package weir.japi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import weir.Task;

/**
 * A program in Java that uses Weir. That it compiles is half of the test; JavaUserSuite runs it.
 */
final class JavaUser {
  private JavaUser() {}

  static int chained() throws Exception {
    Task<Integer> task = Tasks.of(() -> 20).map(n -> n + 1).flatMap(n -> Task.pure(n * 2));
    return Tasks.runSync(task);
  }

  /** A checked exception arrives unwrapped. */
  static String readOr(Path path, String otherwise) throws Exception {
    Task<String> read = Tasks.of(() -> Files.readString(path));
    try {
      return Tasks.runSync(read);
    } catch (IOException missing) {
      return otherwise;
    }
  }

  static List<Integer> squares(int count, int parallelism) throws Exception {
    List<Task<Integer>> tasks =
        IntStream.range(0, count).mapToObj(n -> Tasks.of(() -> n * n)).toList();
    return Tasks.runSync(Tasks.parSequence(parallelism, tasks));
  }

  static boolean timesOut() throws Exception {
    Task<Object> slow =
        Tasks.of(
            () -> {
              Thread.sleep(3_600_000);
              return "late";
            });
    try {
      Tasks.runSync(Tasks.timeout(slow, Duration.ofMillis(5)));
      return false;
    } catch (TimeoutException late) {
      return true;
    }
  }

  static CompletableFuture<String> told(Task<String> task, boolean cancel) {
    CompletableFuture<String> told = new CompletableFuture<>();
    Runnable stop =
        Tasks.runAsync(
            task,
            (value, error) ->
                told.complete(error == null ? value : error.getClass().getSimpleName()));
    if (cancel) {
      stop.run();
    }
    return told;
  }

  static String roundTrip(String value) throws Exception {
    Task<String> task = Tasks.fromStage(() -> CompletableFuture.supplyAsync(() -> value));
    return Tasks.toCompletableFuture(task).get();
  }
}
