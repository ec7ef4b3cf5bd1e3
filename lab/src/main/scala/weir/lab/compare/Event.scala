package weir.lab.compare

import weir.lab.compare.SideBySide.Place

/** A message of a measuring JVM between its results. */
enum Event:
  /** These loads start now. */
  case Begins(loads: Seq[Load])
  case Progress(place: Place, letters: String)

  /** The way that hangs on the rival has hung, as it should: no failure. */
  case Hung(place: Place, why: String)

  def toJson: ujson.Obj = this match
    case Begins(loads) => ujson.Obj("begins" -> loads.map(_.name))
    case Progress(place, letters) => at(place, "letters", letters)
    case Hung(place, why) => at(place, "hung", why)

  private def at(place: Place, key: String, text: String): ujson.Obj =
    ujson.Obj(
      "load" -> place.load.name,
      "way" -> place.way.name,
      "system" -> place.system,
      key -> text
    )

object Event:
  /** **Fails** with a `NoSuchElementException` if it is none.
    */
  def fromJson(json: ujson.Obj): Event =
    if json.value.contains("begins") then
      Begins(json("begins").arr.toVector.map(name => Load.named(name.str).get))
    else
      val place =
        Place(Load.named(json("load").str).get, Way.named(json("way").str).get, json("system").str)
      json.value.get("hung").fold(Progress(place, json("letters").str))(why => Hung(place, why.str))
