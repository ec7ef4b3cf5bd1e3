package weir.testkit.agent;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The methods that the code of explored programs calls, as {@link Touching} has rewritten it:
 * before each access to an object that several threads may share.
 *
 * <p>While nothing is explored, {@code sink} is null and a call is a read and a branch.
 */
public final class Touch {
  private Touch() {}

  /** The receiver of the reports. Written before the threads start that read it. */
  public static Sink sink;

  private static final List<Site> sites = new ArrayList<>();
  private static volatile Site[] table = new Site[0];

  public static synchronized int add(Site site) {
    sites.add(site);
    table = sites.size() > table.length ? grow() : table;
    table[sites.size() - 1] = site;
    return sites.size() - 1;
  }

  private static Site[] grow() {
    var longer = new Site[Math.max(1024, table.length * 2)];
    for (int i = 0; i < sites.size(); i++) longer[i] = sites.get(i);
    return longer;
  }

  public static Site site(int id) {
    return table[id];
  }

  /** Receives reports of the actions of explored code, on the thread that acts. */
  public interface Sink {
    /** An access to {@code on} follows. */
    void touch(Object on, int site);

    /** As {@code touch}, by a handle. */
    void handle(VarHandle handle, Object on, int site);

    /** The thread is about to enter a monitor, and holds it then. */
    void enter(Object monitor, int site);

    /** The thread is about to call a synchronized method. */
    void beforeEnter(Object monitor, int site);

    /** The thread has entered the monitor of a synchronized method. */
    void entered(Object monitor);

    /** The thread is about to leave a monitor. */
    void exit(Object monitor);

    /** The thread is about to wait in a monitor. Returns how often it has entered it. */
    int beginWait(Object monitor);

    /** The thread has waited, and has the monitor again. */
    void endWait(Object monitor, int times);

    /** The thread is about to notify the threads that wait in a monitor. */
    void notified(Object monitor, int site);

    /** Returns true if the call was one of an explored thread, which has yielded. */
    boolean yields(int site);

    /** An instruction of a task begins. */
    void begins(Object instruction, int site);

    /** A call follows whose result differs from run to run, or that starts a thread. */
    void unrepeatable(int site);

    /** A fiber cedes without leaving its thread, that of {@code worker}. */
    void cedes(Object worker, int site);

    /** The code of a user has made a task. */
    void made(Object task, int site);

    /** Returns true if the calling thread is one of an explored program. */
    boolean explores();
  }

  public static void at(Object on, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.touch(on, site);
  }

  /** As {@code at}, for an access by a handle, whose field the sink finds out. */
  public static void handle(VarHandle handle, Object on, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.handle(handle, on, site);
  }

  public static void enter(Object monitor, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.enter(monitor, site);
  }

  public static void beforeEnter(Object monitor, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.beforeEnter(monitor, site);
  }

  public static void entered(Object monitor) {
    var sink = Touch.sink;
    if (sink != null) sink.entered(monitor);
  }

  public static void exit(Object monitor) {
    var sink = Touch.sink;
    if (sink != null) sink.exit(monitor);
  }

  public static void notified(Object monitor, int site) {
    var sink = Touch.sink;
    if (sink != null) {
      sink.touch(monitor, site);
      sink.notified(monitor, site);
    }
  }

  public static void begins(Object instruction, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.begins(instruction, site);
  }

  public static void unrepeatable(int site) {
    var sink = Touch.sink;
    if (sink != null) sink.unrepeatable(site);
  }

  public static void cedes(Object worker, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.cedes(worker, site);
  }

  public static void made(Object task, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.made(task, site);
  }

  /** Returns {@code value}, and false in explored code. */
  public static boolean unlessExplored(boolean value) {
    var sink = Touch.sink;
    return value && (sink == null || !sink.explores());
  }

  /** Replaces {@code Thread.yield}. */
  public static void yieldNow(int site) {
    var sink = Touch.sink;
    if (sink == null || !sink.yields(site)) Thread.yield();
  }

  /** Replaces {@code Thread.onSpinWait}. */
  public static void spin(int site) {
    var sink = Touch.sink;
    if (sink == null || !sink.yields(site)) Thread.onSpinWait();
  }

  /** Replaces {@code Object.wait}. */
  public static void await(Object monitor, int site) throws InterruptedException {
    await(monitor, 0, site);
  }

  /** Replaces {@code Object.wait(long)}. */
  public static void await(Object monitor, long millis, int site) throws InterruptedException {
    at(monitor, site);
    var sink = Touch.sink;
    int times = sink == null ? 0 : sink.beginWait(monitor);
    try {
      monitor.wait(millis);
    } finally {
      if (times > 0) sink.endWait(monitor, times);
    }
  }
}
