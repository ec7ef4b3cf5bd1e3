package weir

import java.lang.ref.WeakReference

/** Suites that ask what the runtime keeps alive. */
trait CollectedTests extends WeirSuite:

  /** Fails unless what `references` are to is collected soon. */
  def assertCollected(what: String)(references: WeakReference[?]*): Unit =
    eventually(s"collected: $what") {
      System.gc()
      references.forall(_.get eq null)
    }
