package weir.testkit;

import java.util.function.Consumer;

/** Methods that are synchronized as a whole, which Scala does not make. */
public final class SynchronizedMethods implements Consumer<Runnable> {
  public static synchronized void inStatic(Runnable body) {
    body.run();
  }

  @Override
  public synchronized void accept(Runnable body) {
    body.run();
  }
}
