package weir

import com.sun.jdi.event.{ClassPrepareEvent, MethodEntryEvent}
import com.sun.jdi.request.EventRequest.SUSPEND_NONE
import com.sun.jdi.{
  AbsentInformationException,
  Bootstrap,
  ReferenceType,
  ThreadReference,
  VirtualMachine
}
import java.util.concurrent.CountDownLatch
import scala.collection.mutable
import scala.jdk.CollectionConverters.*

/** The source files that one call passes: all that somebody has to open who wants to follow it. */
class FilesOnTheWaySuite extends WeirSuite:
  override def limit = super.limit * 3

  test("parTraverse(xs)(f).runSync() passes fewer than 25 source files"):
    val files = FilesOnTheWay.of("parTraverse")
    assert(files("weir/task/ParTraverse.scala") && files("weir/runtime/Worker.scala"), files)
    assert(files.size < 25, s"${files.size}: ${files.mkString(", ")}")

  test("parEvalMap passes at most 18 source files of streams"):
    val files = FilesOnTheWay.of("parEvalMap").filter(_.startsWith("weir/stream/"))
    assert(files("weir/stream/ParEvalMap.scala") && files("weir/stream/StreamLoop.scala"), files)
    assert(files.size <= 18, s"${files.size}: ${files.mkString(", ")}")

/** Prints the source files that a call passes, and their number.
  *
  * {{{
  * sbt 'core/Test/runMain weir.FilesOnTheWay parTraverse'
  * }}}
  */
object FilesOnTheWay:
  def main(args: Array[String]): Unit =
    val files = of(args(0))
    println((files.toSeq :+ s"${files.size} files").mkString("\n"))

  /** Returns the sources of this library's methods that begin during the call, on the calling
    * thread or on a worker. The threads of the watch and of delayed helper requests are left out:
    * the call has no result from them. A method that the compiler has put into its caller is not
    * seen, nor is one of a lambda's class.
    */
  def of(call: String): mutable.SortedSet[String] =
    val machine = launch(call)
    try trace(machine)
    finally machine.process.destroyForcibly(): Unit

  private def launch(call: String): VirtualMachine =
    val connector = Bootstrap.virtualMachineManager.defaultConnector
    val arguments = connector.defaultArguments
    val classPath = System.getProperty("java.class.path")
    arguments.get("options").setValue(s"""${WeirSuite.quickStart.mkString(" ")} -cp "$classPath"""")
    arguments.get("main").setValue(s"weir.CallToTrace $call")
    connector.launch(arguments)

  private def trace(machine: VirtualMachine): mutable.SortedSet[String] =
    val requests = machine.eventRequestManager
    val marks = requests.createClassPrepareRequest()
    marks.addClassFilter("weir.CallToTrace$Mark*")
    marks.enable()
    val methods = requests.createMethodEntryRequest()
    methods.addClassFilter("weir.*")
    methods.addClassExclusionFilter("weir.CallToTrace*")
    methods.setSuspendPolicy(SUSPEND_NONE)
    val entered = mutable.Set[ReferenceType]()
    val runsTheCall = mutable.Map[ThreadReference, Boolean]()
    var hasEnded = false
    while !hasEnded do
      val events = machine.eventQueue.remove()
      events.forEach {
        case mark: ClassPrepareEvent if mark.referenceType.name.contains("Begin") =>
          methods.enable()
        case _: ClassPrepareEvent => hasEnded = true
        case entry: MethodEntryEvent =>
          val thread = entry.thread
          if runsTheCall.getOrElseUpdate(thread, thread.isVirtual || thread.name == "main") then
            entered += entry.location.declaringType
        case _ => ()
      }
      if !hasEnded then events.resume() // or else all threads stay as they are
    mutable.SortedSet.from(entered.flatMap(sourceOf))

  private def sourceOf(of: ReferenceType): Option[String] =
    try of.sourcePaths(null).asScala.headOption
    catch case _: AbsentInformationException => None

/** A program with one call, after some that have initialized the classes. The calls wait until the
  * runtime is quiet, so that a worker's way from the end of its work to idleness is always seen.
  */
object CallToTrace:
  def main(args: Array[String]): Unit =
    val call = calls(args(0))
    for _ <- 1 to 3 do call()
    MarkBegin.set()
    call()
    MarkEnd.set()

  private val calls: Map[String, () => Unit] = Map(
    "parTraverse" -> { () =>
      // The end takes one of two ways: the parent continues on the thread of the last runner.
      for tasks <- List(callerIsLast(), workerIsLast()) do
        Task.parTraverse(items)(tasks).runSync(): Unit
        awaitQuiet()
    },
    "parEvalMap" -> { () =>
      Stream.fromIterable(items).parEvalMap(4)(meeting(() => (), () => ())).toList.runSync(): Unit
      awaitQuiet()
    }
  )

  private val items = List.range(0, 100)

  /** Returns the tasks of the items. The caller runs the first, and a worker the second. Both are
    * under way at the same time. Then one calls `first`, and the other one `second`. The second one
    * does not block: another worker would come for one that does.
    */
  private def meeting(first: () => Unit, second: () => Unit): Int => Task[Int] =
    val secondRuns, haveMet = CountDownLatch(1)
    item =>
      Task {
        if item == 0 then
          secondRuns.await()
          haveMet.countDown()
          first()
        if item == 1 then
          secondRuns.countDown()
          spinUntil(haveMet.getCount == 0)
          second()
        item + 1
      }

  /** Returns tasks of which the first, which the caller runs, ends once the workers are idle. */
  private def callerIsLast(): Int => Task[Int] = meeting(() => awaitQuiet(), () => ())

  /** Returns tasks of which the second, which a worker runs, ends once the caller waits. */
  private def workerIsLast(): Int => Task[Int] =
    val caller = Thread.currentThread()
    meeting(() => (), () => spinUntil(caller.getState == Thread.State.WAITING))

  private def awaitQuiet(): Unit = spinUntil(WeirRuntime.default.scheduler.isQuiet)

  private def spinUntil(condition: => Boolean): Unit = while !condition do Thread.onSpinWait()

  // A debugger sees the load of each.
  private object MarkBegin:
    def set(): Unit = ()

  private object MarkEnd:
    def set(): Unit = ()
