package weir.postgres.protocol

/** Follows the messages of the server, however the bytes are cut, and passes on those that are for
  * the driver.
  *
  * A message is one byte that says which it is, four bytes of length (which count themselves), and
  * a body. Each kind is handled as follows:
  *
  *   - NoticeResponse goes to `notice` and never to the driver, which would keep each in memory.
  *   - ErrorResponse is passed on, and kept in `lastError`: it may be the server's last message
  *     before the connection is lost.
  *   - CopyInResponse, ErrorResponse and ReadyForQuery say whether a COPY is open, and whether it
  *     has failed.
  *   - ParameterStatus of DateStyle is kept from the driver, which closes the connection at a
  *     format that it cannot read.
  *   - While there is an `extended` call, all answers go to it.
  *   - While `dropsRows`, neither rows nor their description are passed on: the driver would read
  *     each row into memory. `rows` gets them, if there is one.
  *
  * One thread at a time calls `feed`; `copyFailed` may be read by any.
  */
private[postgres] final class ServerMessages(notice: Array[Byte] => Unit):
  import ServerMessages.*

  private val header = new Array[Byte](5)
  private var headerSize = 0
  private var bodyLeft = 0L
  private var fate = Fate.Pass
  private val held = ByteQueue(256)
  private var framing = Framing.Messages
  private var open = false

  /** The body of the last ErrorResponse. */
  @volatile var lastError: Array[Byte] | Null = null

  /** True if an error has arrived since the server has agreed to a COPY: it discards further data.
    */
  @volatile var copyFailed = false

  /** True if rows are dropped before the driver. */
  var dropsRows = false

  /** Receives the rows that are dropped before the driver, if there is someone who wants them. */
  var rows: RowSink | Null = null

  /** The exchange that gets the results of statements; the driver gets the end of the last one. */
  var exchange: Exchange | Null = null

  /** The call of the extended protocol that gets all answers; the driver gets an end. */
  var extended: ExtendedExchange | Null = null

  /** The state of the transaction in the last ReadyForQuery. */
  private var transaction = 'I'.toByte

  /** Returns true if the server has agreed to a COPY and has not sent its ReadyForQuery yet. */
  def copyIsOpen: Boolean = open

  /** Returns true if the bytes are encrypted and cannot be read here. */
  def isOpaque: Boolean = framing == Framing.Opaque

  /** The next byte is the server's answer to an SSLRequest or GSSENCRequest. */
  def expectAnswer(): Unit = framing = Framing.Answer

  /** All that follows is encrypted. */
  def becomeOpaque(): Unit = framing = Framing.Opaque

  /** Reads `length` bytes, and puts those for the driver into `out`. */
  def feed(bytes: Array[Byte], length: Int, out: ByteQueue): Unit =
    var at = 0
    if framing == Framing.Answer && length > 0 && bytes(0) != 'E' then
      out.put(bytes, 0, 1)
      at = 1
      framing = if bytes(0) == 'N' then Framing.Messages else Framing.Opaque
    else if framing == Framing.Answer && length > 0 then framing = Framing.Messages
    if framing == Framing.Opaque then out.put(bytes, at, length - at)
    else while at < length do at = step(bytes, at, length, out)

  /** Reads a part of one header or one body, and returns the index after it. */
  private def step(bytes: Array[Byte], at: Int, length: Int, out: ByteQueue): Int =
    if headerSize < 5 then
      val count = math.min(5 - headerSize, length - at)
      System.arraycopy(bytes, at, header, headerSize, count)
      headerSize += count
      if headerSize == 5 then begin(out)
      at + count
    else
      val count = math.min(bodyLeft, (length - at).toLong).toInt
      fate match
        case Fate.Pass => out.put(bytes, at, count)
        case Fate.Drop => ()
        case Fate.Row | Fate.Answer => held.put(bytes, at, count)
        case _ => if held.size < HeldBytes then held.put(bytes, at, count)
      bodyLeft -= count
      if bodyLeft == 0 then end(out)
      at + count

  private def wanted: RowSink | Null = if dropsRows then rows else null

  private def begin(out: ByteQueue): Unit =
    bodyLeft = (Bytes.int(header, 1) - 4L) max 0L
    fate = if extended ne null then fateOfExtended else usualFate
    if fate == Fate.Pass then out.put(header, 0, 5)
    if bodyLeft == 0 then end(out)

  /** All but what has nothing to do with the call is an answer, however long. */
  private def fateOfExtended: Fate = header(0) match
    case 'N' | 'S' => Fate.Hold
    case 'A' => Fate.Drop
    case _ => Fate.Answer

  private def usualFate: Fate =
    (header(0): @annotation.switch) match
      case 'N' | 'S' => Fate.Hold
      case 'E' => if exchange eq null then Fate.HoldAndPass else Fate.Hold
      case 'C' => if (exchange eq null) && (wanted eq null) then Fate.Pass else Fate.Hold
      case 'Z' => Fate.Hold
      case 'I' => if exchange eq null then Fate.Pass else Fate.Hold
      case 'D' | 'T' | 'H' | 'd' | 'c' =>
        if !dropsRows then Fate.Pass else if wanted eq null then Fate.Drop else Fate.Row
      case 'A' => if dropsRows || open then Fate.Drop else Fate.Pass
      case _ => Fate.Pass

  private def end(out: ByteQueue): Unit =
    val kind = header(0)
    headerSize = 0
    val sink = wanted
    if fate == Fate.Answer then answer(extended.nn, kind, held.takeAll(), out)
    else if fate == Fate.Row then RowSink.feed(sink.nn, kind, held.takeAll())
    else if fate == Fate.Hold || fate == Fate.HoldAndPass then
      val body = held.takeAll()
      val running = exchange
      if sink ne null then
        if kind == 'C' then sink.completed(Exchange.tagOf(body))
        else if kind == 'E' then sink.failed()
      if kind == 'N' then notice(body)
      else if (running ne null) && kind != 'S' then answer(running, kind, body, out)
      else if kind != 'S' || !startsWith(body, DateStyle) then
        if kind == 'E' then lastError = body
        if kind == 'Z' then transaction = body(0)
        if (running ne null) && (startsWith(body, Encoding) || startsWith(body, Strings)) then
          running.stop()
        pass(body, out)
    kind match
      case 'G' =>
        open = true
        copyFailed = false
        val running = exchange
        if running ne null then
          running.leave()
          exchange = null
      case 'E' => copyFailed = true
      case 'Z' => open = false
      case _ => ()

  private def answer(call: ExtendedExchange, kind: Byte, body: Array[Byte], out: ByteQueue): Unit =
    if kind == 'E' then lastError = body
    if kind == 'Z' then transaction = body(0)
    if call.take(kind, body) then
      extended = null
      passEnd(out)

  /** The driver gets the end of a statement. */
  private def passEnd(out: ByteQueue): Unit =
    header(0) = 'C'
    pass(AnyTag, out)
    header(0) = 'Z'
    pass(Array(transaction), out)

  /** A message about a statement of the exchange. */
  private def answer(running: Exchange, kind: Byte, body: Array[Byte], out: ByteQueue): Unit =
    kind match
      case 'Z' =>
        transaction = body(0)
        if running.ready(transaction) then lastError = null
        else
          exchange = null
          passEnd(out)
      case 'E' =>
        lastError = body
        running.failed(body)
      case _ => running.completed(body)

  private def pass(body: Array[Byte], out: ByteQueue): Unit =
    Bytes.putInt(header, 1, body.length + 4)
    out.put(header, 0, 5)
    out.put(body, 0, body.length)

private[postgres] object ServerMessages:
  /** More than this of a notice or an error is dropped. */
  private val HeldBytes = 1 << 20

  private val DateStyle = "DateStyle\u0000".getBytes

  // The settings that decide how statements are read.
  private val Encoding = "client_encoding\u0000".getBytes
  private val Strings = "standard_conforming_strings\u0000".getBytes

  /** For the driver, which looks at no tag of an exchange. */
  private val AnyTag = "SET\u0000".getBytes

  private enum Framing:
    case Messages, Answer, Opaque

  private enum Fate:
    case Pass, Drop, Hold, HoldAndPass, Row, Answer

  private def startsWith(bytes: Array[Byte], prefix: Array[Byte]): Boolean =
    bytes.length >= prefix.length &&
      java.util.Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length)
