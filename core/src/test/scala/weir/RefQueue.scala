package weir

import scala.collection.immutable.Queue as Line

/** A bounded queue as a user of Cats Effect would write it, of a `Ref`, `Deferred`s, masks and
  * polls: a fiber that finds it empty or full waits for a gate, and looks again.
  *
  * Each value that is offered, and each value that is taken, opens the gate of a waiter. A waiter
  * that is cancelled once its gate is open opens the gate of the next one. So no fiber waits for
  * ever only if no cancel falls between the end of a poll and the end of the mask around it.
  */
final class RefQueue[A](capacity: Int):
  import RefQueue.*

  private val state = Ref.unsafe(State[A](Line.empty, Line.empty, Line.empty))

  def size: Task[Int] = state.get.map(_.values.size)

  def take: Task[A] = Task.uncancelable(poll => taking(poll))

  def offer(value: A): Task[Unit] = Task.uncancelable(poll => offering(poll, value))

  private def taking(poll: Poll): Task[A] = Deferred[Unit].flatMap { gate =>
    changed { before =>
      before.values.dequeueOption match
        case Some((value, rest)) =>
          val (open, now) = before.copy(values = rest).nextOffer
          (now, open.as(value))
        case None =>
          val wait = poll(gate.get).onCancel(leaveTakers(gate)).andThen(taking(poll))
          (before.copy(takers = before.takers.enqueue(gate)), wait)
    }
  }

  private def offering(poll: Poll, value: A): Task[Unit] = Deferred[Unit].flatMap { gate =>
    changed { before =>
      if before.values.size < capacity then
        val (open, now) = before.copy(values = before.values.enqueue(value)).nextTaker
        (now, open)
      else
        val wait = poll(gate.get).onCancel(leaveOffers(gate)).andThen(offering(poll, value))
        (before.copy(offers = before.offers.enqueue(gate)), wait)
    }
  }

  private def leaveTakers(gate: Gate): Task[Unit] = changed { before =>
    if before.takers.contains(gate) then
      (before.copy(takers = before.takers.filterNot(_ eq gate)), Task.unit)
    else before.nextTaker.swap
  }

  private def leaveOffers(gate: Gate): Task[Unit] = changed { before =>
    if before.offers.contains(gate) then
      (before.copy(offers = before.offers.filterNot(_ eq gate)), Task.unit)
    else before.nextOffer.swap
  }

  private def changed[B](change: State[A] => (State[A], Task[B])): Task[B] =
    state.modify(change).flatMap(identity)

object RefQueue:
  private type Gate = Deferred[Unit]

  private final case class State[A](values: Line[A], takers: Line[Gate], offers: Line[Gate]):

    /** Returns the task that opens the gate of the first taker, and the state without that taker.
      */
    def nextTaker: (Task[Unit], State[A]) = takers.dequeueOption match
      case Some((gate, rest)) => (gate.complete(()).void, copy(takers = rest))
      case None => (Task.unit, this)

    def nextOffer: (Task[Unit], State[A]) = offers.dequeueOption match
      case Some((gate, rest)) => (gate.complete(()).void, copy(offers = rest))
      case None => (Task.unit, this)
