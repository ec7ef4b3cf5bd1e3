package weir.postgres.psql

import scala.collection.mutable

/** Counts the statements and results of psql's pipeline, as psql does: they follow from the
  * commands alone, whatever the server answers.
  */
private[psql] final class PipelineCounts(variables: Variables):
  private var commands = 0 // whose results no command has asked for
  private var results = 0 // which can be fetched
  private var syncs = 0

  /** For each result that was not fetched, in their order: true if it is that of a sync. */
  private val pending = mutable.Queue.empty[Boolean]

  var isOpen = false
  publish()

  def begin(): Unit =
    isOpen = true
    publish()

  /** A statement has been added. */
  def add(): Unit =
    commands += 1
    pending += false
    publish()

  def sync(): Unit =
    syncs += 1
    pending += true
    request()

  /** The results of all statements up to here can be fetched. */
  def request(): Unit =
    results += commands
    commands = 0
    publish()

  /** Returns true if nothing can be fetched. */
  def isEmpty: Boolean = results == 0 && syncs == 0

  /** Returns the number of results that are fetched: of `wanted` at most, or all if it is 0. */
  def fetch(wanted: Int): Int =
    val available = results + syncs
    val count = if wanted == 0 then available else wanted.min(available)
    for isSync <- Vector.fill(count)(pending.dequeue()) do
      if isSync then syncs -= 1 else results -= 1
    publish()
    count

  /** Ends the pipeline by a sync, and returns the number of results that are fetched. */
  def end(): Int =
    sync()
    val count = fetch(0)
    isOpen = false
    count

  private def publish(): Unit =
    set("COMMAND", commands)
    set("RESULT", results)
    set("SYNC", syncs)

  private def set(name: String, count: Int): Unit =
    variables.set(s"PIPELINE_${name}_COUNT", count.toString): Unit
