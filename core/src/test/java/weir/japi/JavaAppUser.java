package weir.japi;

import java.time.Duration;
import weir.ExitCode;

/** A program in Java, which JavaAppSuite starts and sends signals to. */
final class JavaAppUser {
  private JavaAppUser() {}

  private static final Resource<String> connection =
      Resource.make(
          () -> {
            System.out.println("open");
            return "connection";
          },
          name -> System.out.println("closed"));

  public static void main(String[] args) {
    switch (args[0]) {
      case "endless" -> App.run(() -> connection.useTask(name -> Task.never()));
      case "code" -> App.run(() -> connection.use(name -> new ExitCode(3)));
      case "failure" ->
          App.run(
              Duration.ofSeconds(1),
              () -> {
                throw new IllegalStateException("out of luck");
              });
      default -> throw new IllegalArgumentException(args[0]);
    }
  }
}
