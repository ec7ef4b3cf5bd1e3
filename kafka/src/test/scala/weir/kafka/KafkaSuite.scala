package weir.kafka

import scala.concurrent.duration.*
import weir.{Outcome, Task}

/** A suite that needs the broker. */
trait KafkaSuite extends munit.FunSuite:
  override def munitTimeout: Duration = Tier(4.minutes, 15.minutes)

  /** Waits for what only the broker tells, by asking it. */
  def eventually(what: => String, limit: FiniteDuration = 2.minutes)(condition: => Boolean): Unit =
    val deadline = limit.fromNow
    while !condition do
      if deadline.isOverdue() then fail(s"not so after $limit: $what")
      Thread.sleep(10)

  /** Runs `task` while `body` does; then cancels it, and **fails** with what it has failed with. */
  def during[A](task: Task[Any])(body: => A): A =
    val ended = java.util.concurrent.CompletableFuture[Outcome[Any]]()
    val cancel = task.runAsync(outcome => ended.complete(outcome): Unit)
    val result =
      try body
      catch
        case error: Throwable =>
          cancel()
          ended.join() match
            case Outcome.Failed(first) => error.addSuppressed(first)
            case _ => ()
          throw error
    cancel()
    ended.join() match
      case Outcome.Failed(error) => throw error
      case _ => result
