package weir.postgres.protocol

/** The messages of the extended protocol that are sent within one call of the driver, and what
  * becomes of the answers. The driver sees only an end.
  *
  * All methods are called by the thread that reads the socket.
  */
private[postgres] trait ExtendedCall:
  /** Takes an answer. Returns true if it is the last one. */
  def take(kind: Byte, body: Array[Byte]): Boolean

  /** Returns what is to be sent now, before more is read; null if there is nothing. */
  def takeReply(): Array[Byte] | Null

/** A call, and where its replies go. */
private[protocol] final class ExtendedExchange(call: ExtendedCall, output: WatchedOutput):
  export call.take

  /** Writes what the last answers have asked for. */
  def reply(): Unit =
    val messages = call.takeReply()
    if messages ne null then output.sendNow(messages)

/** One statement, with a Sync behind it. */
private[postgres] final class ExtendedAnswer(rows: RowSink | Null) extends ExtendedCall:
  private var reply: Array[Byte] | Null = null
  private var failure: Array[Byte] | Null = null
  private var result = weir.postgres.Done(0, "")
  private var described = Vector.empty[RowSink.Column]

  /** Returns the error of the server; null if there is none. */
  def error: Array[Byte] | Null = failure

  /** Returns the result; without rows if the server has sent none. */
  def done: weir.postgres.Done = result

  /** Returns the columns of the statement, if they were asked for or it has run. */
  def columns: Vector[RowSink.Column] = described

  def takeReply(): Array[Byte] | Null =
    val messages = reply
    reply = null
    messages

  def take(kind: Byte, body: Array[Byte]): Boolean =
    kind match
      case 'T' =>
        described = RowSink.columnsOf(body)
        feed(kind, body)
      case 'D' | 'H' | 'd' => feed(kind, body)
      case 'C' =>
        result = Exchange.doneOf(body)
        if rows ne null then rows.completed(result.tag)
      case 'G' => refuse()
      case 'E' =>
        failure = body
        if rows ne null then rows.failed()
      case _ => ()
    kind == 'Z'

  private def feed(kind: Byte, body: Array[Byte]): Unit =
    if rows ne null then RowSink.feed(rows, kind, body)

  /** The server has left out the Sync, which it got during the COPY. */
  private def refuse(): Unit =
    val messages = ExtendedMessages()
    messages.failCopy("it has no data here")
    messages.sync()
    reply = messages.take()
