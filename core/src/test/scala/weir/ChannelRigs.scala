package weir

import java.util.SplittableRandom
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

/** Of several channels, alone and in selects: items in = items out, those of one producer in order,
  * at each consumer.
  */
private final class ChannelRig(capacity: Int) extends PrimitiveRig(s"Channel($capacity)"):
  private final case class Item(producer: Int, channel: Int, number: Long)
  private val size = 3
  private val channels = Vector.fill(size)(Channel.unsafe[Item](capacity))
  private val producers = fibers / 2

  // Each is written by one fiber at a time, or atomically, and read at the end.
  private val numbers = Array.fill(producers)(AtomicLong())
  private val sent, received, sentSum, receivedSum = Array.fill(producers, size)(AtomicLong())
  private val latest = Array.fill(fibers, producers, size)(AtomicLong(-1))
  private val selected = AtomicLong()

  /** All senders may wait at one channel, and all receivers at another. */
  override def operationsEnd: Boolean = false

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val first = random.nextInt(size)
    if id < producers then Task.defer(send(id, first, random)) else receive(id, first, random)

  private def send(id: Int, first: Int, random: SplittableRandom): Task[Unit] =
    val number = numbers(id).getAndIncrement() // one that is cancelled leaves a gap
    val item = Item(id, first, number)
    def clauses = inTurn(first).map(i => channels(i).sendClause(Item(id, i, number)))
    random.nextInt(6) match
      case 0 => noted(channels(first).trySend(item))(in => if in then noteSent(item))
      case 1 => noted(Channel.trySelect(clauses*))(_.foreach(done => noteSent(done.value)))
      case 2 | 3 => noted(channels(first).send(item))(_ => noteSent(item))
      case _ =>
        noted(Channel.select(clauses*)) { done =>
          selected.incrementAndGet()
          noteSent(done.value)
        }

  private def receive(id: Int, first: Int, random: SplittableRandom): Task[Unit] =
    def clauses = inTurn(first).map(i => channels(i).receiveClause)
    random.nextInt(6) match
      case 0 => noted(channels(first).tryReceive)(_.foreach(noteReceived(id, _)))
      case 1 =>
        noted(Channel.trySelect(clauses*))(_.foreach(done => noteReceived(id, done.value)))
      case 2 | 3 => noted(channels(first).receive)(noteReceived(id, _))
      case _ =>
        noted(Channel.select(clauses*)) { done =>
          selected.incrementAndGet()
          noteReceived(id, done.value)
        }

  private def inTurn(first: Int): Seq[Int] = (first until first + size).map(_ % size)

  private def noteSent(item: Item): Unit =
    sent(item.producer)(item.channel).incrementAndGet()
    sentSum(item.producer)(item.channel).addAndGet(item.number): Unit

  private def noteReceived(id: Int, item: Item): Unit =
    val Item(producer, channel, number) = item
    val before = latest(id)(producer)(channel).getAndSet(number)
    if before >= number then
      wrong(s"$number of producer $producer came after $before through channel $channel")
    received(producer)(channel).incrementAndGet()
    receivedSum(producer)(channel).addAndGet(number): Unit

  def finish()(using WeirRuntime): Unit =
    for i <- 0 until size do
      expect(
        "the numbers of waiters",
        (channels(i).receivers.size, channels(i).senders.size),
        (0, 0)
      )
      Iterator
        .continually(channels(i).tryReceive.runSync())
        .takeWhile(_.isDefined)
        .flatten
        .foreach(noteReceived(0, _))
      for id <- 0 until producers do
        val clue = s"of producer $id through channel $i"
        if sent(id)(i).get == 0 then wrong(s"nothing $clue")
        expect(s"items $clue", received(id)(i).get, sent(id)(i).get)
        expect(s"sum of the items $clue", receivedSum(id)(i).get, sentSum(id)(i).get)
    if selected.get == 0 then wrong("no select has ended")

/** Channels that are closed at random points, one after the other: all that was sent is received.
  */
private final class ClosedChannelRig(capacity: Int)
    extends PrimitiveRig(s"Channel($capacity), closed"):
  private val present = AtomicReference(Channel.unsafe[Long](capacity))
  private val next, sent, received, sentSum, receivedSum, closes = AtomicLong()

  def operation(id: Int, random: SplittableRandom): Task[Any] =
    val channel = present.get
    if random.nextInt(64) == 0 then close(channel)
    else
      val either = if id % 2 == 0 then send(channel, random) else receive(channel, random)
      either.handleError {
        case _: ChannelClosed => ()
        case error => throw error
      }

  private def send(channel: Channel[Long], random: SplittableRandom): Task[Any] = Task.defer {
    val number = next.getAndIncrement()
    random.nextInt(4) match
      case 0 => noted(channel.trySend(number))(in => if in then noteSent(number))
      case 1 =>
        noted(channel.sendOrClosed(number)) {
          case _: Channel.Closed => ()
          case _ => noteSent(number)
        }
      case 2 => noted(channel.send(number))(_ => noteSent(number))
      case _ => noted(Channel.select(channel.sendClause(number)))(_ => noteSent(number))
  }

  private def receive(channel: Channel[Long], random: SplittableRandom): Task[Any] =
    random.nextInt(4) match
      case 0 => noted(channel.tryReceive)(_.foreach(noteReceived))
      case 1 =>
        noted(channel.receiveOrClosed) {
          case number: Long => noteReceived(number)
          case _ => ()
        }
      case 2 => noted(channel.receive)(noteReceived)
      case _ => noted(Channel.select(channel.receiveClause))(done => noteReceived(done.value))

  /** Nothing is sent to a closed channel, so the remaining values are all that there are. */
  private def close(channel: Channel[Long]): Task[Unit] = Task.uncancelable { _ =>
    channel.close.flatMap { first =>
      if first then
        closes.incrementAndGet(): Unit
        present.set(Channel.unsafe(capacity))
        drain(channel)
      else Task.unit
    }
  }

  private def drain(channel: Channel[Long]): Task[Unit] = channel.receiveOrClosed.flatMap {
    case number: Long =>
      noteReceived(number)
      drain(channel)
    case _ => Task.unit
  }

  private def noteSent(number: Long): Unit =
    sent.incrementAndGet()
    sentSum.addAndGet(number): Unit

  private def noteReceived(number: Long): Unit =
    received.incrementAndGet()
    receivedSum.addAndGet(number): Unit

  def finish()(using WeirRuntime): Unit =
    close(present.get).runSync()
    if sent.get == 0 || closes.get < 2 then wrong(s"${sent.get} sent, ${closes.get} closed")
    expect("items", received.get, sent.get)
    expect("sum of the items", receivedSum.get, sentSum.get)
