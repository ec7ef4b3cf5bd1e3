package weir.stream

import jdk.jfr.{Category, Description, Event, Label, Name, StackTrace}
import weir.std.StreamMonitor

/** An event of the JDK's Flight Recorder for each named stretch, when the observed stream is over.
  */
@Name("weir.StreamStretch")
@Label("Stream Stretch")
@Category(Array("Weir"))
@Description("What a named stretch of an observed stream has done, once the stream is over")
@StackTrace(false)
private[weir] final class StretchEvent extends Event:
  @Label("Name") var name: String = ""
  @Label("Elements") var elements: Long = 0
  @Label("Worked, ns") var worked: Long = 0
  @Label("Waited for input, ns") var waitedForInput: Long = 0
  @Label("Waited for room, ns") var waitedForRoom: Long = 0
  @Label("Parallelism") var parallelism: Int = 1

private[weir] object StretchEvent:
  /** False in a JDK that was linked without the recorder. */
  private lazy val isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent

  def emit(snapshot: StreamMonitor.Snapshot): Unit = if isThere then Events.emit(snapshot)

  private object Events:
    def emit(snapshot: StreamMonitor.Snapshot): Unit =
      if StretchEvent().isEnabled then
        for stretch <- snapshot.stretches do
          val event = StretchEvent()
          event.name = stretch.name
          event.elements = stretch.elements
          event.worked = stretch.worked.toNanos
          event.waitedForInput = stretch.waitedForInput.toNanos
          event.waitedForRoom = stretch.waitedForRoom.toNanos
          event.parallelism = stretch.parallelism
          event.commit()
