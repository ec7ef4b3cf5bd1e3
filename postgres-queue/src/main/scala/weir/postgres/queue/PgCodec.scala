package weir.postgres.queue

/** Writes a value as the payload of a job, and reads it back.
  *
  * @param column
  *   the type of the payload's column, which is chosen when the queue is created
  */
final class PgCodec[A] private (
    val column: PgCodec.Column,
    private[queue] val encode: A => AnyRef,
    private[queue] val decode: AnyRef => A
):
  /** Returns a codec of the same column for another type. An error that `read` throws fails the
    * job, not the queue.
    *
    * {{{
    * val numbers: PgCodec[Int] = PgCodec.text.imap(_.toInt)(_.toString)
    * }}}
    */
  def imap[B](read: A => B)(write: B => A): PgCodec[B] =
    new PgCodec(column, b => encode(write(b)), stored => read(decode(stored)))

object PgCodec:
  /** The types that a payload's column may have. */
  enum Column(val sql: String):
    case Bytes extends Column("bytea")
    case Text extends Column("text")
    case Jsonb extends Column("jsonb")

  /** Stores bytes unchanged, in a `bytea`. */
  val bytes: PgCodec[Array[Byte]] =
    new PgCodec(Column.Bytes, identity, _.asInstanceOf[Array[Byte]])

  /** Stores text in a `text`. **Fails** when a job is offered whose text has U+0000 or half of a
    * surrogate pair: Postgres cannot store it.
    */
  val text: PgCodec[String] = new PgCodec(Column.Text, identity, _.asInstanceOf[String])

  /** Stores JSON, given as text, in a `jsonb`, which SQL can query. Postgres drops spaces and the
    * order of keys. **Fails** when a job is offered whose text is no JSON, or has U+0000, also as
    * an escape, or half of a surrogate pair.
    */
  val jsonb: PgCodec[String] = new PgCodec(Column.Jsonb, identity, _.asInstanceOf[String])
