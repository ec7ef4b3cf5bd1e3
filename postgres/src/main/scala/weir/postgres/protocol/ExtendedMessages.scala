package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.Extended

/** The messages of the extended protocol, one after the other.
  *
  * Names and values are bytes, one in each character. All values are text, and so are the rows.
  */
private[postgres] final class ExtendedMessages:
  private val messages = ByteQueue(256)
  private val number = new Array[Byte](4)

  def size: Int = messages.size

  /** Adds the messages of a statement with this text, without a Sync. */
  def add(form: Extended, text: Array[Byte]): Unit = form match
    case Extended.Bound(values) =>
      parse("", text)
      bind("", values)
      execute()
    case Extended.Named(name, values) =>
      bind(name, values)
      execute()
    case Extended.Prepared(name) => parse(name, text)
    case Extended.Closed(name) => of('C', 'S', name)
    case Extended.Described =>
      parse("", text)
      of('D', 'S', "")
    case Extended.Piped(form) => add(form, text)

  /** Has the server fail, and roll back what it has run since the last Sync. */
  def fail(): Unit = of('D', 'S', "weir has abandoned this pipeline")

  /** Ends the implicit transaction of the messages before; the server answers ReadyForQuery. */
  def sync(): Unit = message('S')(0)

  /** Has the server send its answers. */
  def flush(): Unit = message('H')(0)

  /** Refuses the data of a COPY. */
  def failCopy(reason: String): Unit =
    message('f')(reason.length + 1)
    text(reason)

  /** Returns all messages, and forgets them. */
  def take(): Array[Byte] = messages.takeAll()

  private def parse(name: String, sql: Array[Byte]): Unit =
    message('P')(name.length + 1 + sql.length + 1 + 2)
    text(name)
    messages.put(sql, 0, sql.length)
    byte(0)
    short(0) // types of parameters

  private def bind(name: String, values: List[String]): Unit =
    val bytes = values.map(_.getBytes(ISO_8859_1))
    message('B')(1 + name.length + 1 + 2 + 2 + bytes.map(_.length + 4).sum + 2)
    text("") // of the portal
    text(name)
    short(0) // formats: all text
    short(bytes.size)
    for value <- bytes do
      int(value.length)
      messages.put(value, 0, value.length)
    short(0) // formats of the columns

  private def execute(): Unit =
    of('D', 'P', "")
    message('E')(1 + 4)
    text("")
    int(0) // all rows

  /** A message about a statement or a portal. */
  private def of(kind: Char, about: Char, name: String): Unit =
    message(kind)(1 + name.length + 1)
    byte(about)
    text(name)

  private def message(kind: Char)(length: Int): Unit =
    byte(kind)
    int(length + 4)

  private def text(value: String): Unit =
    messages.put(value.getBytes(ISO_8859_1), 0, value.length)
    byte(0)

  private def byte(value: Int): Unit =
    number(0) = value.toByte
    messages.put(number, 0, 1)

  private def short(value: Int): Unit =
    byte(value >> 8)
    byte(value)

  private def int(value: Int): Unit =
    Bytes.putInt(number, 0, value)
    messages.put(number, 0, 4)
