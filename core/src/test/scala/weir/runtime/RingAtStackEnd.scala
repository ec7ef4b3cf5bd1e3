package weir.runtime

/** The program that `RingSuite` runs in a JVM of its own: pushes at the end of a thread's stack. */
object RingAtStackEnd:
  private object Nothing extends Job:
    def runSlice(executionThread: ExecutionThread): Unit = ()

  def main(args: Array[String]): Unit =
    val ring = Ring(2)
    if !ring.push(Nothing) || ring.poll() == null then
      println("not even here") // links the methods that it calls
    println(s"${(0 until 200).count(isWhole)} rings gave back what they took")

  /** Pushes as the stack gets shorter, frame by frame. `shift` moves its end within a frame. */
  private def isWhole(shift: Int): Boolean =
    val ring = Ring(1024)
    var pushed = 0
    def descend(): Unit =
      try descend()
      catch case _: StackOverflowError => ()
      if pushed < 50 && ring.push(Nothing) then pushed += 1
    def shifted(n: Int): Unit = if n == 0 then descend() else shifted(n - 1)
    val thread = Thread(null, () => shifted(shift), "deep", 256 * 1024)
    thread.start()
    thread.join()
    (1 to pushed).forall(_ => ring.poll() != null) && ring.isEmpty
