package weir.program

import munit.Assertions
import scala.concurrent.duration.*

/** Polls for an effect of another process, which sends no event. */
trait Eventually:
  this: Assertions =>

  def eventually(what: String)(condition: => Boolean): Unit =
    val deadline = 30.seconds.fromNow
    while !condition do
      if deadline.isOverdue() then fail(s"not so after 30 s: $what")
      Thread.sleep(10)
