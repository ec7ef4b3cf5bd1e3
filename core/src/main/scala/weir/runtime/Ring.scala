package weir.runtime

import java.util.concurrent.atomic.AtomicLongArray

/** A bounded queue of jobs that any thread may push to and take from.
  *
  *   - **Shared**: `positions` holds head and tail, which move by CAS alone. A cell's sequence
  *     number decides whether it is the turn of a push or of a poll.
  *   - **Invariant**: `0 <= tail - head <= capacity`.
  *   - **Ordering**: `push` writes the cell, then releases its sequence number; `poll` acquires the
  *     number, then reads the cell.
  *   - **Full**: `push` returns false, and the caller sends the job to the overflow queue.
  *   - **In between**: a push that has moved the tail but not yet released its cell makes `poll`
  *     return null while `isEmpty` is false. A worker asks `isEmpty` before it goes idle.
  *
  * After Dmitry Vyukov's bounded MPMC queue. It differs in `isEmpty`, which also counts unfinished
  * pushes.
  */
private[weir] final class Ring(capacity: Int):
  require(
    capacity >= 2 && (capacity & (capacity - 1)) == 0,
    s"Ring: capacity was $capacity. It must be a power of two, and at least 2."
  )

  // immutable
  private val mask = capacity - 1

  // shared
  private val cells = new Array[Job | Null](capacity)
  private val turns = AtomicLongArray(capacity)
  for i <- 0 until capacity do turns.set(i, i.toLong)

  /** Head and tail, each on cache lines of its own. On the line of the tail there is also a cell
    * that only the probe of the stack writes.
    */
  private val positions = AtomicLongArray(64)
  private inline val headAt = 16
  private inline val tailAt = 40
  private inline val probeAt = 41

  /** Adds a job. Returns false if the ring is full. */
  def push(job: Job): Boolean =
    var position = positions.get(tailAt)
    while true do
      val index = position.toInt & mask
      val turn = turns.getAcquire(index) // pairs with the release in poll
      if turn == position then
        // If user code recurses into runSync, the stack may be about to overflow. It must overflow
        // here, and not between the CAS and the release, which would block the cell for ever.
        positions.setRelease(probeAt, position)
        // The CAS is also the fence between this push and the caller's look at the standby.
        if positions.compareAndSet(tailAt, position, position + 1) then
          cells(index) = job
          turns.setRelease(index, position + 1) // pairs with the acquire in poll
          return true
        Counters.count(Counters.PushRetry)
        position = positions.get(tailAt)
      else if turn < position then return false
      else position = positions.get(tailAt)
    false

  /** Takes the oldest job. Returns null if there is none, or if its push is not finished. */
  def poll(): Job | Null =
    var position = positions.get(headAt)
    while true do
      val index = position.toInt & mask
      val turn = turns.getAcquire(index) // pairs with the release in push
      if turn == position + 1 then
        if positions.compareAndSet(headAt, position, position + 1) then
          val job = cells(index)
          cells(index) = null
          turns.setRelease(index, position + capacity) // pairs with the acquire in push
          return job
        Counters.count(Counters.PollRetry)
        position = positions.get(headAt)
      else if turn < position + 1 then return null
      else position = positions.get(headAt)
    null

  /** Returns false if a push has begun whose job no poll has taken. */
  def isEmpty: Boolean = positions.get(tailAt) == positions.get(headAt)

  /** Returns the number of jobs that have been taken so far. */
  def taken: Long = positions.get(headAt)

  /** Returns the number of jobs that have been pushed so far, or whose push has begun. */
  def pushed: Long = positions.get(tailAt)

  /** Returns the jobs that are queued, as far as they can be seen without taking them. */
  def jobs: Iterator[Job] = cells.iterator.flatMap(Option(_))

  /** Returns the number of jobs that are queued; other threads may change that at any time. */
  def size: Int = math.max(0L, positions.get(tailAt) - positions.get(headAt)).toInt
