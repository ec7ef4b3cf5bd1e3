package weir.lab.load

import munit.FunSuite

class LoaderSuite extends FunSuite:
  private def withProperties(values: (String, String)*)(body: => Unit): Unit =
    for (name, value) <- values do sys.props(name) = value
    try body
    finally for (name, _) <- values do sys.props -= name

  test("weir sql is started with the options and jars that the launcher says, and its cache"):
    withProperties(
      "weir.sql.flags" -> "-Xlog:aot=off -Xmx64m",
      "weir.sql.cache" -> "/a b/sql.aot",
      "weir.sql.jars" -> "/a b/weir.jar"
    ):
      assertEquals(
        Loader.weirCommand.slice(1, 6),
        Seq("-Xlog:aot=off", "-Xmx64m", "-XX:AOTCache=/a b/sql.aot", "-cp", "/a b/weir.jar")
      )

  test("without a launcher the JVM has no options"):
    assertEquals(Loader.weirCommand(1), "-cp")
