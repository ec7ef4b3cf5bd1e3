package weir.cli.load

import munit.FunSuite

class LoaderSuite extends FunSuite:
  private def withProperties(values: (String, String)*)(body: => Unit): Unit =
    for (name, value) <- values do sys.props(name) = value
    try body
    finally for (name, _) <- values do sys.props -= name

  test("weir sql is started with the options that the launcher says, and its start-up cache"):
    withProperties("weir.sql.flags" -> "-Xlog:aot=off -Xmx64m", "weir.sql.cache" -> "/a b/sql.aot"):
      assertEquals(
        Loader.weirCommand.slice(1, 5),
        Seq("-Xlog:aot=off", "-Xmx64m", "-XX:AOTCache=/a b/sql.aot", "-cp")
      )

  test("without a launcher the JVM has no options"):
    assertEquals(Loader.weirCommand(1), "-cp")
