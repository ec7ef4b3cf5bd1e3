package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random
import weir.CircuitBreaker.State

/** Calls that fail or are cancelled at random points. */
class CircuitBreakerStressSuite extends StressTests:
  stress("cancelled at random points, there is one probe at most, and it never stays half-open") {
    (seed, deadline) =>
      given Runtime = smallRuntime()
      val breaker = CircuitBreaker.unsafe(1, 50.micros, 1.5, 200.micros)
      val inside, refused, made, cancels = AtomicInteger()
      // It opens here, and no call succeeds: so whatever goes through is a probe.
      intercept[Boom](breaker.protect(Task.fail(Boom())).runSync()): Unit
      def one(random: Random): Task[Any] = Task.defer {
        val leave = Task(inside.decrementAndGet()).void
        val body = if random.nextBoolean() then Task.cede else Task.unit
        val probe = Task.uncancelable { poll =>
          Task(assertEquals(inside.incrementAndGet(), 1, "probes"))
            .andThen(Task(made.incrementAndGet()))
            .andThen(poll(body).onCancel(leave))
            .andThen(leave)
            .andThen(Task.fail(Boom()))
        }
        breaker.protect(probe).handleError {
          case _: CircuitOpen => refused.incrementAndGet()
          case _: Boom => ()
          case other => throw other
        }
      }
      together((1 to 4).map { i => () =>
        val task = one(Random(seed + i)).forever
        cancels.addAndGet(canceledAtRandom(deadline, Random(seed + 10 + i))(task)): Unit
      })
      assertEquals(breaker.currentState.runSync(), State.Open)
      eventually("the circuit can be closed again") {
        breaker.protect(Task.unit).attempt.runSync().isRight
      }
      assert(cancels.get > 0 && refused.get > 0 && made.get > 0, s"$cancels $refused $made")
  }
