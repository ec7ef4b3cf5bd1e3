package weir
package sync

/** A receive that comes while a channel is being closed. */
class ChannelCoreSuite extends WeirSuite:

  private final class Core extends ChannelCore(1)

  test("a receive between the close and the end of the senders makes no room for one of them"):
    val core = Core()
    val closed = Channel.Closed.Done
    core.locked(core.sendNow(0, _ => "refused")): Unit
    @volatile var received: Any = null
    def sender(value: Int)(atEnd: => Unit): Fiber[Any] =
      val fiber = Send[Any](
        core,
        value,
        _ => {
          atEnd
          "refused"
        }
      ).start.runSync()
      eventually("it waits")(core.synchronized(core.senders.size == value))
      fiber
    val first = sender(1) { received = core.locked(core.receiveNow(identity)) }
    val second = sender(2)(())
    assert(core.closeNow(closed))
    assertEquals(first.joinOrFail.runSync(), "refused")
    assertEquals(received, 0)
    assertEquals(second.joinOrFail.runSync(), "refused")
    assert(core.values.isEmpty)
