package weir.testkit

import java.lang.classfile.ClassFile
import java.lang.constant.ConstantDescs.CD_long
import java.lang.constant.{ClassDesc, MethodTypeDesc}
import java.lang.instrument.Instrumentation
import java.lang.invoke.MethodHandles
import java.util.function.LongSupplier
import scala.jdk.CollectionConverters.*
import weir.testkit.agent.Rewriting

/** Makes the timed waits of the JDK ask the test kit for the time.
  *
  * `Thread.sleep`, `poll(timeout)` and the like wait in a loop: they park for the rest of the time,
  * then ask `System.nanoTime` whether it is over. In the classes that have such loops, that call is
  * replaced by one of a class of the test kit's. This class is in the package `java.lang`, so that
  * all of them can see it. On threads that do not belong to a test runtime, it returns the
  * machine's time.
  */
private[testkit] object JdkClock:
  private val clockClass = "java.lang.WeirNanoTime"
  private val clock = ClassDesc.of(clockClass)
  private val supplier = ClassDesc.of("java.util.function.LongSupplier")
  private val returnsLong = MethodTypeDesc.of(CD_long)

  /** The classes whose waits have a time limit; their nested classes count too. */
  private val waiting = List(
    "java.lang.Thread",
    "java.lang.VirtualThread",
    "java.util.concurrent.CompletableFuture",
    "java.util.concurrent.Exchanger",
    "java.util.concurrent.ForkJoinTask",
    "java.util.concurrent.FutureTask",
    "java.util.concurrent.LinkedTransferQueue",
    "java.util.concurrent.Phaser",
    "java.util.concurrent.SynchronousQueue",
    "java.util.concurrent.locks.AbstractQueuedLongSynchronizer",
    "java.util.concurrent.locks.AbstractQueuedSynchronizer",
    "java.util.concurrent.locks.StampedLock"
  )

  /** Rewrites the classes. `java.lang` must be open to this class. Done once for a JVM, even if
    * several class loaders have a test kit.
    */
  def install(instrumentation: Instrumentation, nanoTime: LongSupplier): Unit =
    System.getProperties.synchronized {
      val present =
        try Class.forName(clockClass)
        catch case _: ClassNotFoundException => null
      if present eq null then
        define().getField("nanoTime").set(null, nanoTime)
        rewrite(instrumentation)
    }

  private def define(): Class[?] =
    import ClassFile.{ACC_FINAL, ACC_PUBLIC, ACC_STATIC, ACC_VOLATILE}
    val bytes = ClassFile
      .of()
      .build(
        clock,
        made =>
          made
            .withFlags(ACC_PUBLIC | ACC_FINAL)
            .withField("nanoTime", supplier, ACC_PUBLIC | ACC_STATIC | ACC_VOLATILE)
            .withMethodBody(
              "nanoTime",
              returnsLong,
              ACC_PUBLIC | ACC_STATIC,
              code =>
                code
                  .getstatic(clock, "nanoTime", supplier)
                  .invokeinterface(supplier, "getAsLong", returnsLong)
                  .lreturn(): Unit
            ): Unit
      )
    MethodHandles.privateLookupIn(classOf[Thread], MethodHandles.lookup()).defineClass(bytes)

  private def rewrite(instrumentation: Instrumentation): Unit =
    val classes = waiting.map(Class.forName(_)).flatMap(c => c +: c.getDeclaredClasses.toList)
    val rewriting = Rewriting(classes.map(_.getName.replace('.', '/')).toSet.asJava, clock)
    instrumentation.addTransformer(rewriting, true)
    try instrumentation.retransformClasses(classes*)
    finally instrumentation.removeTransformer(rewriting): Unit
    val failure = rewriting.failure
    if failure ne null then
      throw IllegalStateException("TestRuntime: a class of this JDK cannot be rewritten.", failure)
