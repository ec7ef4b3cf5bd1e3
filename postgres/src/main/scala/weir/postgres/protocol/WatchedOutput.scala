package weir.postgres.protocol

import java.io.{IOException, OutputStream}
import java.util.ArrayDeque
import weir.postgres.LongText

/** The bytes that the driver sends over one socket, except statements, which go out as the bytes of
  * the script.
  *
  * The driver would make a string of a statement, and bytes of the string: three copies of
  * something that may be long, in UTF-8 for COPY whatever the encoding. So the driver is given a
  * short text, and the message that it sends for that is replaced.
  *
  * @param onBroken
  *   called if the socket cannot be written, before the driver gets the error and closes the
  *   socket; not if the bytes are encrypted, since only the decrypting socket can read what is left
  */
private[postgres] final class WatchedOutput(
    raw: OutputStream,
    messages: ServerMessages,
    startup: StartupPacket,
    onBroken: () => Unit
) extends OutputStream:
  import WatchedOutput.*

  private var begun = false
  private var instead: Array[Byte] | Null = null
  private var long: LongText | Null = null
  private var isWhole = false // `instead` is messages, and no statement

  /** The next message, which the driver ends by a flush, will be this statement: all of `long`, if
    * `statement` is only a part of it.
    */
  def sendInstead(statement: Array[Byte], long: LongText | Null = null): Unit =
    instead = statement
    this.long = long
    isWhole = false

  /** The next message, which the driver ends by a flush, will be these. */
  def sendMessages(messages: Array[Byte]): Unit =
    instead = messages
    isWhole = true

  /** Sends these messages. The driver is reading. */
  def sendNow(messages: Array[Byte]): Unit =
    put(messages, 0, messages.length)
    raw.flush()

  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
    if !begun then
      negotiate(bytes, offset, length)
      val packet = java.util.Arrays.copyOfRange(bytes, offset, offset + length)
      val first = if messages.isOpaque then packet else startup.of(packet)
      put(first, 0, first.length)
    else if instead eq null then put(bytes, offset, length)

  override def flush(): Unit =
    val statement = instead
    if statement ne null then
      val all = long
      instead = null
      long = null
      if isWhole then put(statement, 0, statement.length)
      else if all eq null then send(statement)
      else send(all)
    raw.flush()

  /** Sends these statements, in as few writes as there can be. */
  def sendAll(statements: ArrayDeque[Array[Byte]]): Unit =
    while !statements.isEmpty do
      if statements.size == 1 then send(statements.poll()) else sendTogether(statements)
    raw.flush()

  private def sendTogether(statements: ArrayDeque[Array[Byte]]): Unit =
    val messages = ByteQueue(8 << 10)
    val header = new Array[Byte](5)
    while !statements.isEmpty && messages.size + statements.peek.length < OneWriteBytes do
      val statement = statements.poll()
      fillHeader(header, statement.length)
      messages.put(header, 0, 5)
      messages.put(statement, 0, statement.length)
      messages.put(Nul, 0, 1)
    if messages.isEmpty then send(statements.poll())
    else
      val bytes = messages.takeAll()
      put(bytes, 0, bytes.length)

  /** A first message of eight bytes asks whether the server encrypts. A message that does not begin
    * with a length is TLS.
    */
  private def negotiate(bytes: Array[Byte], offset: Int, length: Int): Unit =
    if length > 0 && bytes(offset) != 0 then messages.becomeOpaque()
    else if length == 8 && Bytes.int(bytes, offset) == 8 then messages.expectAnswer()
    if messages.isOpaque || length != 8 then begun = true

  private def send(statement: Array[Byte]): Unit =
    val size = statement.length
    if size <= OneWriteBytes then
      val message = new Array[Byte](size + 6)
      fillHeader(message, size)
      System.arraycopy(statement, 0, message, 5, size)
      put(message, 0, message.length)
    else
      val header = new Array[Byte](5)
      fillHeader(header, size)
      put(header, 0, 5)
      put(statement, 0, size)
      put(Nul, 0, 1)

  private def send(statement: LongText): Unit =
    val header = new Array[Byte](5)
    fillHeader(header, statement.length)
    put(header, 0, 5)
    statement.blocks(0, statement.length)(put(_, 0, _))
    put(Nul, 0, 1)

  private def put(bytes: Array[Byte], offset: Int, length: Int): Unit =
    try raw.write(bytes, offset, length)
    catch
      case error: IOException =>
        if !messages.isOpaque then onBroken()
        throw error

  private def fillHeader(message: Array[Byte], size: Int): Unit =
    message(0) = 'Q'
    Bytes.putInt(message, 1, size + 5)

private object WatchedOutput:
  private val OneWriteBytes = 64 << 10
  private val Nul = new Array[Byte](1)
