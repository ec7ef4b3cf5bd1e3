package weir

import java.lang.ref.WeakReference

/** Suites that check which objects the runtime keeps alive. */
trait CollectedTests extends WeirSuite:

  /** Fails unless the objects of `references` are collected soon. */
  def assertCollected(what: String)(references: WeakReference[?]*): Unit =
    eventually(s"collected: $what") {
      System.gc()
      references.forall(_.get eq null)
    }
