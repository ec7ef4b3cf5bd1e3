package weir.testkit

import java.lang.instrument.Instrumentation
import java.lang.invoke.MethodHandles
import java.lang.reflect.Field
import java.util.concurrent.{Executor, ForkJoinPool}
import java.util.function.LongSupplier
import scala.jdk.CollectionConverters.*

/** Makes virtual threads of the JDK that run on an executor of the test kit's and use its clock in
  * their waits.
  *
  *   - The JDK can make them, for its own tests; the agent opens that to the test kit.
  *   - A virtual thread whose executor is a `ForkJoinPool` leaves it to that pool's `schedule` to
  *     end its timed waits.
  *   - Code that asks for the time in such a wait gets it from the executor, if that is a
  *     `LongSupplier`: see `JdkClock`.
  *   - A virtual thread that such a thread starts has the same executor.
  */
private[testkit] object VirtualThreads:
  private val threadClass = Class.forName("java.lang.VirtualThread")

  private val instrumentation = AgentLoader.load()
  open(instrumentation)

  /** Returns the time of the thread that asks: that of its executor, if it is one of the test
    * kit's.
    */
  val threadNanos: LongSupplier = clock()

  private val builder =
    val made = Class
      .forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
      .getDeclaredConstructor(classOf[Executor])
    made.setAccessible(true)
    JdkClock.install(instrumentation, threadNanos)
    startPollers()
    made

  /** The JDK polls the sockets of all virtual threads on a few threads of its own. If the first
    * thread that needs them is one of the test kit's, they would run on its executor, and end with
    * it.
    */
  private def startPollers(): Unit =
    Thread.ofPlatform().start(StartPollers()).join()

  private def open(instrumentation: Instrumentation): Unit =
    val mine = java.util.Set.of(getClass.getModule)
    val opens = Map("java.lang" -> mine, "java.util.concurrent.locks" -> mine)
    instrumentation.redefineModule(
      classOf[Object].getModule,
      java.util.Set.of(),
      java.util.Map.of(),
      opens.asJava,
      java.util.Set.of(),
      java.util.Map.of()
    )

  private def clock(): LongSupplier =
    val scheduler = MethodHandles
      .privateLookupIn(threadClass, MethodHandles.lookup())
      .findGetter(threadClass, "scheduler", classOf[Executor])
      .asType(java.lang.invoke.MethodType.methodType(classOf[Executor], classOf[Thread]))
    () =>
      val thread = Thread.currentThread()
      if !thread.isVirtual then System.nanoTime()
      else
        (scheduler.invokeExact(thread): Executor) match
          case clock: LongSupplier => clock.getAsLong
          case _ => System.nanoTime()

  /** Fails here, and not in the scheduler, if the JVM does not let the agent in. */
  def load(): Unit = builder: Unit

  /** Returns a builder of threads that run on `pool`. */
  def on(pool: ForkJoinPool & LongSupplier): Thread.Builder.OfVirtual =
    builder.newInstance(pool).asInstanceOf[Thread.Builder.OfVirtual]

  @volatile private var threadField: Field | Null = null

  /** Returns the thread that continues when its executor runs `continuation`; null for anything
    * else.
    */
  def threadOf(continuation: Runnable): Thread | Null =
    var field = threadField
    if (field eq null) || !field.getDeclaringClass.isInstance(continuation) then
      field = continuation.getClass.getDeclaredFields.find(_.getType == threadClass).orNull
      if field ne null then
        field.setAccessible(true)
        threadField = field
    if field eq null then null else field.get(continuation).asInstanceOf[Thread]

/** A class of its own: code of the object above would wait for the end of that object's
  * initialization, which waits for this.
  */
private final class StartPollers extends Runnable:
  def run(): Unit = Class.forName("sun.nio.ch.Poller"): Unit
