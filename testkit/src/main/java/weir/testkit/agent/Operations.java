package weir.testkit.agent;

import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.Set;

/** Finds the methods that touch a shared object, and the kinds of their accesses. */
final class Operations {
  private Operations() {}

  /** No access. */
  static final int NONE = -1;

  private static final List<String> unshared =
      List.of(
          "TimeUnit",
          "ThreadLocalRandom",
          "Callable",
          "Executor",
          "ForkJoin",
          "Flow",
          "ThreadFactory",
          "StructuredTaskScope",
          "Delayed",
          "ScheduledExecutor");

  private static final Set<String> reads =
      Set.of(
          "apply", "isEmpty", "nonEmpty", "size", "length", "peek", "element", "first", "last",
          "head", "iterator", "keySet", "values", "entrySet", "stream", "foreach", "forEach",
          "toString", "hashCode", "equals", "isDone", "isCancelled", "isCompletedExceptionally",
          "join", "keys", "toList", "toSeq", "toVector", "toMap", "toSet", "mkString", "sum",
          "exists", "forall", "find", "map", "filter", "count", "isLocked", "isHeldByCurrentThread",
          "availablePermits", "remainingCapacity", "intValue", "longValue", "doubleValue",
          "floatValue", "plain", "knownSize", "value", "isCompleted");

  private static final Set<String> waits =
      Set.of(
          "lockInterruptibly", "acquire", "await", "awaitNanos", "awaitUntil", "awaitAdvance",
          "awaitAdvanceInterruptibly", "awaitTermination", "take", "takeFirst", "takeLast", "put",
          "putFirst", "putLast", "transfer", "exchange", "invokeAll", "invokeAny");

  static boolean isConcurrent(String owner) {
    if (!owner.startsWith("java/util/concurrent/"))
      return owner.startsWith("scala/collection/concurrent/");
    var name = owner.substring("java/util/concurrent/".length());
    return !name.endsWith("Exception") && unshared.stream().noneMatch(name::startsWith);
  }

  /**
   * Returns true if a call has another result in each run, or starts a thread that is not explored.
   */
  static boolean isUnrepeatable(String owner, String name, MethodTypeDesc type) {
    return switch (owner) {
      case "java/lang/Math" -> name.equals("random");
      case "scala/math/package$", "scala/util/Random$" -> true;
      case "java/util/concurrent/ThreadLocalRandom" -> name.equals("current");
      case "java/util/Random",
              "java/util/SplittableRandom",
              "java/security/SecureRandom",
              "scala/util/Random",
              "java/util/Date" ->
          name.equals("<init>") && type.parameterCount() == 0;
      case "java/util/Collections" -> name.equals("shuffle") && type.parameterCount() == 1;
      case "java/util/UUID" -> name.equals("randomUUID");
      case "java/lang/System" -> name.equals("nanoTime") || name.equals("currentTimeMillis");
      case "java/time/Instant",
              "java/time/LocalDate",
              "java/time/LocalTime",
              "java/time/LocalDateTime",
              "java/time/OffsetDateTime",
              "java/time/ZonedDateTime" ->
          name.equals("now");
      case "java/time/Clock" -> name.startsWith("system");
      case "java/util/Timer",
              "java/util/concurrent/ForkJoinPool",
              "java/util/concurrent/ThreadPoolExecutor",
              "java/util/concurrent/ScheduledThreadPoolExecutor" ->
          name.equals("<init>") || name.equals("commonPool");
      case "java/lang/Thread" -> name.equals("ofPlatform") || name.equals("<init>");
      case "java/util/concurrent/Executors" -> !name.contains("Virtual");
      case "java/util/concurrent/CompletableFuture", "java/util/concurrent/CompletionStage" ->
          name.endsWith("Async") && !type.displayDescriptor().contains("Executor");
      default -> name.equals("parallelStream") && owner.startsWith("java/util/");
    };
  }

  /** Returns true if objects of the type may be shared, or may be plain collections. */
  static boolean isCollection(String owner) {
    return owner.startsWith("java/util/") && !owner.startsWith("java/util/concurrent/")
        ? isJavaCollection(owner.substring("java/util/".length()))
        : owner.startsWith("scala/collection/mutable/")
            || owner.startsWith("scala/collection/convert/JavaCollectionWrappers");
  }

  private static boolean isJavaCollection(String name) {
    return name.endsWith("Map")
        || name.endsWith("List")
        || name.endsWith("Set")
        || name.endsWith("Queue")
        || name.endsWith("Deque")
        || name.equals("Collection")
        || name.equals("Vector")
        || name.equals("Hashtable");
  }

  private static boolean isGet(String name) {
    return name.startsWith("get")
        && !name.startsWith("getAnd")
        && !name.startsWith("getOrElseUpdate");
  }

  /** Returns true if an interrupt ends the call, also one that came before. */
  static boolean isInterruptible(String name, MethodTypeDesc type) {
    return waits.contains(name) || type.displayDescriptor().contains("TimeUnit");
  }

  /** Returns true if the method calls functions, during which other threads may take steps. */
  static boolean callsFunctions(MethodTypeDesc type) {
    return type.parameterList().stream()
        .anyMatch(
            parameter ->
                parameter.descriptorString().startsWith("Ljava/util/function/")
                    || parameter.descriptorString().startsWith("Lscala/Function"));
  }

  static boolean isIterator(String owner) {
    return owner.equals("java/util/Iterator")
        || owner.equals("java/util/ListIterator")
        || owner.equals("scala/collection/Iterator");
  }

  /** Returns true for a class that changes a field of the object that is its first argument. */
  static boolean isFieldUpdater(String owner) {
    return owner.startsWith("java/util/concurrent/atomic/") && owner.endsWith("FieldUpdater");
  }

  /** Returns true if the method returns a view of the object, whose methods are accesses to it. */
  static boolean isView(String name, MethodTypeDesc type) {
    return type.parameterCount() == 0
        && (name.equals("iterator") || name.equals("listIterator"));
  }

  static int kind(String name) {
    if (name.equals("signal") || name.equals("signalAll")) return Site.SIGNAL;
    boolean isRead =
        reads.contains(name)
            || name.startsWith("contains")
            || isGet(name)
            || name.startsWith("is")
            || name.startsWith("peek");
    return isRead ? Site.READ : Site.WRITE;
  }
}
