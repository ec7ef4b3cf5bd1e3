package weir.testkit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/** Code of many forms, whose result is known: rewritten, it has the same. */
public final class Constructs {
  private Constructs() {}

  /** Calls in the arguments of the constructor above, before there is an object. */
  static class Base {
    final int given;
    long wide;

    Base(int given, long wide) {
      this.given = given;
      this.wide = wide;
    }
  }

  static final class Derived extends Base {
    private int own = 3;
    double real;

    Derived(AtomicInteger n, long[] values) {
      super(n.incrementAndGet(), values[0] += 2);
      real = own + wide;
      wide += given;
    }
  }

  record Point(int x, long y) {
    Point {
      if (x < 0) throw new IllegalArgumentException("x");
    }
  }

  enum Color {
    RED,
    GREEN
  }

  static final int[] table = {1, 2, 3};
  static long total;
  static final VarHandle element = MethodHandles.arrayElementVarHandle(long[].class);
  static final VarHandle field;

  static {
    try {
      field = MethodHandles.lookup().findVarHandle(Base.class, "wide", long.class);
    } catch (ReflectiveOperationException error) {
      throw new ExceptionInInitializerError(error);
    }
  }

  static synchronized long add(long by, double times, Object... rest) {
    total += (long) (by * times) + rest.length;
    return total;
  }

  synchronized int throwing(boolean fails) {
    synchronized (table) {
      try {
        if (fails) throw new IllegalStateException("planned");
        return 1;
      } finally {
        synchronized (element) {
          total++;
        }
      }
    }
  }

  static String name(String text, Color color) {
    var kind =
        switch (color) {
          case RED -> "red";
          case GREEN -> "green";
        };
    return switch (text) {
      case "a" -> kind + 1;
      case "b" -> kind + 2;
      default -> kind;
    };
  }

  public static List<Object> all() throws Exception {
    total = 0;
    var seen = new ArrayList<Object>();
    var n = new AtomicInteger();
    var values = new long[] {5, 6};
    var derived = new Derived(n, values);
    seen.add(List.of(derived.given, derived.wide, derived.real, values[0]));

    int[][] grid = {{1, table[1]}, {3, n.get() > 0 ? 4 : 5}};
    grid[1][0] += grid[0][1]++;
    byte[] bytes = {1};
    bytes[0] += 2;
    boolean[] flags = new boolean[1];
    flags[0] = !flags[0];
    Object[] mixed = {new Object[] {"in"}, grid[0][1], values[1]++};
    char[] letters = "xyz".toCharArray();
    letters[1]--;
    seen.add(List.of(grid[0][1], grid[1][0], (int) bytes[0], flags[0], mixed[1], mixed[2]));
    seen.add(new String(letters) + ((Object[]) mixed[0])[0]);

    seen.add((long) element.getAndAdd(values, 1, 10L) + values[1]);
    seen.add(field.compareAndSet(derived, derived.wide, 40L) ? derived.wide : -1L);
    seen.add(add(4, 2.5, "x", 1L, 2.0));
    var constructs = new Constructs();
    try {
      constructs.throwing(true);
    } catch (IllegalStateException error) {
      seen.add(error.getMessage() + constructs.throwing(false) + total);
    }
    seen.add(name("b", Color.GREEN) + new Point(1, 2L));

    var map = new ConcurrentHashMap<String, AtomicLong>();
    map.computeIfAbsent("n", _ -> new AtomicLong(1)).accumulateAndGet(4, Long::sum);
    seen.add(map.reduceValuesToLong(1, AtomicLong::get, 0L, Long::sum));
    var lock = new ReentrantLock();
    IntSupplier locked =
        () -> {
          lock.lock();
          try {
            for (int i : new int[] {1, 2}) if (i == 2) return i;
            return 0;
          } finally {
            lock.unlock();
          }
        };
    seen.add(locked.getAsInt() + (lock.tryLock(1, TimeUnit.SECONDS) ? 10 : 20));
    lock.unlock();
    int sum = 0;
    for (var iterator = new ArrayList<>(List.of(1, 2, 3)).iterator(); iterator.hasNext(); )
      sum += iterator.next();
    seen.add(sum);
    return seen;
  }
}
