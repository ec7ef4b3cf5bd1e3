package weir.testkit.explore

import java.lang.invoke.VarHandle
import java.util.IdentityHashMap
import scala.collection.mutable.ArrayBuffer
import weir.testkit.agent.Site

/** The shared objects of one run: the steps that have touched each of them, and so the steps that
  * must come before others. Objects are known by identity and numbered in the order of their first
  * touch.
  *
  * Two accesses to one place in an object conflict if one of them is a write. `race` is called with
  * each earlier step that conflicts with the present one and that no other step orders before it:
  * the other order of the two may end differently.
  */
private[explore] final class SharedObjects(race: (Step, Strand) => Unit):
  private val objects = IdentityHashMap[AnyRef, SharedObject](64)

  def of(on: AnyRef): SharedObject =
    val whole = Parts.wholeOf(on)
    var known = objects.get(whole)
    if known eq null then
      known = SharedObject(objects.size + 1, on)
      objects.put(whole, known): Unit
    known

  /** Records an access by `strand` in its present step. */
  def touch(on: SharedObject, field: String, kind: Int, strand: Strand): Unit =
    val step = strand.step.nn
    step.touches += 1
    val place = on.place(field)
    if !place.isKnown(step, kind) then
      place.findRaces(strand, kind, race)
      place.join(step, kind)
      place.add(step, kind)

/** An object that several strands may share. */
private[explore] final class SharedObject(val number: Int, val on: AnyRef):
  private var first: Place | Null = null
  private var more: ArrayBuffer[Place] | Null = null

  def place(field: String): Place =
    if first eq null then first = Place(field)
    if first.nn.field == field then first.nn
    else
      if more eq null then more = ArrayBuffer()
      more.nn.find(_.field == field) match
        case Some(place) => place
        case None =>
          val made = Place(field)
          more.nn += made
          made

/** A field of an object, or the object as a whole, with the steps that have touched it. */
private[explore] final class Place(val field: String):
  private val steps = ArrayBuffer[Step]()
  private val kinds = ArrayBuffer[Int]()

  /** The index of the latest write in the history; -1 for none. */
  private var latestWrite = -1

  /** Returns true if the present step has touched it before, with an access that conflicts with at
    * least as much.
    */
  def isKnown(step: Step, kind: Int): Boolean =
    steps.nonEmpty && (steps.last eq step) && (kinds.last == kind || kinds.last == Site.WRITE)

  def findRaces(strand: Strand, kind: Int, race: (Step, Strand) => Unit): Unit =
    var i = steps.length - 1
    while i >= 0 do
      val earlier = steps(i)
      if (earlier.strand ne strand) && Place.race(kinds(i), kind) &&
        !Clocks.isBefore(earlier, strand.before)
      then race(earlier, strand)
      i -= 1

  def join(step: Step, kind: Int): Unit =
    if kind == Site.READ then
      if latestWrite >= 0 then Clocks.join(step.clock, steps(latestWrite).clock)
    else
      var i = math.max(0, latestWrite)
      while i < steps.length do
        Clocks.join(step.clock, steps(i).clock)
        i += 1

  def add(step: Step, kind: Int): Unit =
    if kind != Site.READ then latestWrite = steps.length
    steps += step
    kinds += kind

private[explore] object Place:
  /** Returns true if the order of the two may make a difference. */
  def race(one: Int, other: Int): Boolean =
    (one != Site.READ || other != Site.READ) && (one != Site.MERGE || other != Site.MERGE)

/** The names of the fields that handles access, so that an access by a handle and a plain access
  * are to one place.
  */
private[explore] object HandleNames:
  private val names = IdentityHashMap[VarHandle, String]()

  def of(handle: VarHandle): String = names.synchronized {
    var name = names.get(handle)
    if name eq null then
      val description = handle.describeConstable
      name = if description.isPresent then description.get.constantName else "handle"
      names.put(handle, name): Unit
    name
  }
