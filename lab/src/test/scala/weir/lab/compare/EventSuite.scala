package weir.lab.compare

import weir.lab.compare.SideBySide.Place

class EventSuite extends munit.FunSuite:

  private val place = Place(Load.SlowProducer, Way.ParallelStream, "fs2")

  Seq(
    Event.Begins(Seq(Load.SlowProducer, Load.Balanced)),
    Event.Progress(place, "PPC"),
    Event.Hung(place, "hangs: nothing happened")
  ).foreach: event =>
    test(s"$event arrives as it was sent"):
      assertEquals(Event.fromJson(event.toJson), event)
