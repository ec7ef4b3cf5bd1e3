package weir.program

/** Runs `main` of the class that is the first argument, as a JVM that ends when its parent does. */
object Attached:
  /** The exit code of a JVM whose parent is gone: that of a hang-up. */
  private val orphaned = 129

  def main(args: Array[String]): Unit =
    attach()
    val main = Class.forName(args.head).getMethod("main", classOf[Array[String]])
    val _ = main.invoke(null, args.tail)

  /** Ends this JVM when its standard input does: the parent holds the other end of it, says nothing
    * there, and cannot keep it open when it dies, even of a kill.
    */
  def attach(): Unit =
    val _ = Thread
      .ofPlatform()
      .daemon()
      .name("weir-parent")
      .start: () =>
        while System.in.read() >= 0 do ()
        Runtime.getRuntime.halt(orphaned)
