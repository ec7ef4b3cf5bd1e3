package weir.cli

import munit.Assertions
import scala.concurrent.duration.*

/** Waits for what another process does, and tells nobody of. */
trait Eventually:
  this: Assertions =>

  def eventually(what: String)(condition: => Boolean): Unit =
    val deadline = 30.seconds.fromNow
    while !condition do
      if deadline.isOverdue() then fail(s"not so after 30 s: $what")
      Thread.sleep(10)
