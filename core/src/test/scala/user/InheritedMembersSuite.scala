package user

import scala.compiletime.testing.typeCheckErrors
import weir.*
import weir.std.*

/** Users cannot call the members that the API's types inherit from the library's own classes. */
class InheritedMembersSuite extends munit.FunSuite:

  /** Code that uses a member whose name is right, and which users cannot use. */
  private inline def isHidden(inline code: String): Boolean =
    typeCheckErrors(code).exists(_.message.contains("cannot be accessed"))

  test("a use of a member that is for users compiles"):
    assertEquals(typeCheckErrors("(null: Scope).fork(weir.Task.unit)").map(_.message), Nil)
    assertEquals(typeCheckErrors("(null: RateLimiter).acquire").map(_.message), Nil)

  test("a scope has no inherited members for users"):
    assert(isHidden("(null: Scope).drain()"))
    assert(isHidden("(null: Scope).cancelAll()"))
    assert(isHidden("(null: Scope).add(null, weir.Task.unit)"))
    assert(isHidden("(null: Scope).awaitEnd"))
    assert(isHidden("(null: Scope).onEnd()"))
    assert(isHidden("(null: Scope).refusal"))
    assert(isHidden("(null: Scope).fiberEnded(null, null)"))
    assert(isHidden("(null: Scope).awaitedAs"))
    assert(isHidden("(null: Scope).holders"))

  test("a supervisor has no inherited members for users"):
    assert(isHidden("(null: Supervisor).drain()"))
    assert(isHidden("(null: Supervisor).cancelAll()"))
    assert(isHidden("(null: Supervisor).add(null, weir.Task.unit)"))
    assert(isHidden("(null: Supervisor).awaitEnd"))
    assert(isHidden("(null: Supervisor).onEnd()"))
    assert(isHidden("(null: Supervisor).refusal"))
    assert(isHidden("(null: Supervisor).fiberEnded(null, null)"))
    assert(isHidden("(null: Supervisor).awaitedAs"))
    assert(isHidden("(null: Supervisor).holders"))

  test("a rate limiter has no inherited members for users"):
    assert(isHidden("(null: RateLimiter).awaitedAs"))
    assert(isHidden("(null: RateLimiter).holders"))

  test("the primitives have no inherited members for users"):
    assert(isHidden("(null: Queue[Int]).awaitedAs"))
    assert(isHidden("(null: Queue[Int]).holders"))
    assert(isHidden("(null: Queue[Int]).lock()"))
    assert(isHidden("(null: Queue[Int]).leave(null)"))
    assert(isHidden("(null: Channel[Int]).awaitedAs"))
    assert(isHidden("(null: Channel[Int]).holders"))
    assert(isHidden("(null: Semaphore).awaitedAs"))
    assert(isHidden("(null: Semaphore).lock()"))
    assert(isHidden("(null: Semaphore).granted(null)"))
    assert(isHidden("(null: Mutex).awaitedAs"))
    assert(isHidden("(null: Mutex).holders"))
    assert(isHidden("(null: Mutex).returned()"))
    assert(isHidden("(null: Deferred[Int]).awaitedAs"))
    assert(isHidden("(null: CountDownLatch).awaitedAs"))
    assert(isHidden("(null: CyclicBarrier).awaitedAs"))
