package weir.postgres.protocol

class OpeningSuite extends munit.FunSuite:
  private def opening() = WatchedSocketFactory.Opening(None, _ => (), StartupPacket(Map.empty))

  test("aborted, it closes the socket that it made last, and each that it makes afterwards"):
    val aborted = opening()
    val socket = aborted.newSocket()
    aborted.abort()
    assert(socket.isClosed)
    assert(aborted.newSocket().isClosed)
    val early = opening()
    early.abort()
    assert(early.newSocket().isClosed)

  test("the socket of the connection is the last one that was made before it was open"):
    val opened = opening()
    opened.newSocket(): Unit
    val last = opened.newSocket()
    assert(opened.finish() eq last)
    val request = opened.newSocket()
    assert(opened.finish() eq last)
    opened.abort()
    assert(!request.isClosed && last.isClosed)
