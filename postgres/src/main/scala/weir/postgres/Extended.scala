package weir.postgres

/** The form in which a statement is sent by the extended protocol, with its parameters as text.
  *
  * Names and values are bytes in the encoding of the script, one in each character.
  */
private[postgres] enum Extended:
  /** Its text, with these values. */
  case Bound(values: List[String])

  /** The statement that was prepared by this name, with these values. */
  case Named(name: String, values: List[String])

  /** Its text, to be prepared by this name; it does not run. */
  case Prepared(name: String)

  /** The end of the statement that was prepared by this name. */
  case Closed(name: String)

  /** A question about the columns of its rows; it does not run. */
  case Described

  /** The same in a pipeline. */
  case Piped(form: Extended)

private[postgres] object Extended:
  /** Returns true if the server runs the text of the statement itself, and runs it now. */
  def runsText(form: Extended | Null): Boolean = form match
    case null | _: Bound => true
    case Piped(form) => runsText(form)
    case _ => false

  /** Returns true if the text of the statement is sent. */
  def hasText(form: Extended | Null): Boolean = form match
    case _: (Named | Closed) => false
    case Piped(form) => hasText(form)
    case _ => true

  /** Returns the name of the command that asks for this form. */
  def commandOf(form: Extended): String = form match
    case _: Bound => "bind"
    case _: Named => "bind_named"
    case _: Prepared => "parse"
    case _: Closed => "close_prepared"
    case Described => "gdesc"
    case Piped(within) => commandOf(within)

  /** Returns the values of its parameters. */
  def valuesOf(form: Extended | Null): List[String] = form match
    case Bound(values) => values
    case Named(_, values) => values
    case Piped(within) => valuesOf(within)
    case _ => Nil

  /** Returns the number of bytes of its names and values. */
  def sizeBytes(form: Extended | Null): Long = form match
    case Bound(values) => values.map(_.length.toLong).sum
    case Named(name, values) => name.length + values.map(_.length.toLong).sum
    case Piped(within) => sizeBytes(within)
    case _ => 0

  /** Returns the form without its pipeline. */
  def single(form: Extended | Null): Extended | Null = form match
    case Piped(within) => within
    case _ => form
