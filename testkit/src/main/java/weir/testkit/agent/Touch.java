package weir.testkit.agent;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

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

    /** An access that began before the calls of its functions ends now. */
    void after(Object on, int site);

    /** As {@code touch}, for the field of that name. */
    void field(Object on, String name, int site);

    /** As {@code touch}, for an element of an array. */
    void element(Object array, int index, int site);

    /** The thread is about to access itself, such as its interrupt. */
    void thread(int site);

    /** The thread is about to make a call that an interrupt ends, also one that came before. */
    void interruptible();

    /** The methods of {@code view}, such as an iterator, are accesses to {@code of}. */
    void viewed(Object of, Object view);

    /** The thread is about to enter a monitor, and holds it then. */
    void enter(Object monitor, int site);

    /** The thread is about to call a synchronized method. */
    void beforeEnter(Object monitor, int site);

    /** The thread has entered the monitor of a synchronized method. */
    void entered(Object monitor);

    /** The thread is about to leave a monitor. */
    void exit(Object monitor, int site);

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

    /** An instruction of a task has returned {@code result}. */
    void ended(Object result);

    /** A function of the user's is called, as a part of an instruction. */
    void calls(Object function);

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

  public static void element(Object array, int index, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.element(array, index, site);
  }

  public static void thread(int site) {
    var sink = Touch.sink;
    if (sink != null) sink.thread(site);
  }

  public static void interruptible() {
    var sink = Touch.sink;
    if (sink != null) sink.interruptible();
  }

  public static void viewed(Object of, Object view) {
    var sink = Touch.sink;
    if (sink != null) sink.viewed(of, view);
  }

  public static void after(Object on, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.after(on, site);
  }

  /** As {@code handle}, by an updater of fields. */
  public static void updater(Object updater, Object on, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.field(on, fieldOf(updater), site);
  }

  /** The names of the fields that updaters change. */
  private static final Map<Object, String> updated =
      Collections.synchronizedMap(new WeakHashMap<>());

  public static void named(Object updater, Object field) {
    updated.put(updater, (String) field);
  }

  private static String fieldOf(Object updater) {
    return updated.getOrDefault(updater, "?");
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

  public static void exit(Object monitor, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.exit(monitor, site);
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

  public static void ended(Object result) {
    var sink = Touch.sink;
    if (sink != null) sink.ended(result);
  }

  public static void calls(Object function, int site) {
    var sink = Touch.sink;
    if (sink != null) sink.calls(function);
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
    interruptible();
    var sink = Touch.sink;
    int times = sink == null ? 0 : sink.beginWait(monitor);
    try {
      monitor.wait(millis);
    } finally {
      if (times > 0) sink.endWait(monitor, times);
    }
  }
}
