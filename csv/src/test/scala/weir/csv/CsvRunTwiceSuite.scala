package weir.csv

import weir.RunTwice

/** Each pipe of CSV, run again and beside another run. */
class CsvRunTwiceSuite extends RunTwice:
  private val in = "a,b\r\n1,2\r\n".getBytes
  private val fields = List(Vector("a", "b"), Vector("1", "2"))

  complete(List(Csv.getClass))
  pipe("Csv.rows")(in)(fields*)(bytes => Csv.rows()(bytes).map(_.fields))
  pipe("Csv.named")(in)(Map("a" -> "1", "b" -> "2"))(bytes => Csv.named()(bytes).map(_.toMap))
  pipe("Csv.write")(fields*)("a,b\r\n", "1,2\r\n")(Csv.write())
