package weir.bench.child

import weir.bench.child.burst.{BurstSystem, Inner}

/** Every system makes every call of a burst, and blocks as long as it is asked to. */
class BurstSuite extends munit.FunSuite:
  for name <- List("weir", "cats-effect", "cats-effect-vt", "zio", "virtual-threads") do
    test(s"$name makes every nested call, whatever the inner effect does"):
      val system = BurstSystem.of(name)
      for inner <- Inner.values; fibers <- List(1, 30) do
        assertEquals(system.nested(fibers, 7, inner), fibers * 7L, s"$inner, $fibers fibers")

    test(s"$name blocks, all at once"):
      val system = BurstSystem.of(name)
      val start = System.nanoTime()
      assertEquals(system.blocked(100, 100), 100L)
      val millis = (System.nanoTime() - start) / 1_000_000
      assert(millis >= 100, s"$millis ms")
      assert(millis < 5000, s"$millis ms, one after the other would be 10 s")

  test("another system is refused by name"):
    interceptMessage[IllegalArgumentException]("burst does not run on 'monix'"):
      BurstSystem.of("monix")
