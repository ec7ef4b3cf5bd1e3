package weir.cli.sql.run

import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.collection.mutable

/** Counts statements by their first words: `INSERT`, `CREATE TABLE`.
  *
  * A script may hold millions of small ones. So the first word is identified by its first eight
  * letters, packed into a number, and is looked at only once.
  */
final class StatementKinds:
  import StatementKinds.*

  private val byWord = mutable.LongMap.empty[Word]

  def add(statement: Array[Byte]): Unit =
    val from = begin(statement)
    val word = byWord.getOrElseUpdate(key(statement, from), Word.of(statement, from))
    word match
      case Word.Verb(counter) => counter.count += 1
      case Word.OnObject(counters) =>
        counters.getOrElseUpdate(kind(statement, from), Counter()).count += 1

  /** Each kind with how often it came, the most frequent first. */
  def counts: Vector[(String, Long)] =
    byWord.iterator
      .flatMap: (key, word) =>
        word match
          case Word.Verb(counter) => Iterator(text(key) -> counter.count)
          case Word.OnObject(counters) =>
            counters.iterator.map((kind, counter) => kind -> counter.count)
      .toVector
      .sortBy((kind, count) => (-count, kind))

object StatementKinds:
  private final class Counter(var count: Long = 0)

  private enum Word:
    case Verb(counter: Counter)

    /** The next words say what it does. */
    case OnObject(counters: mutable.Map[String, Counter])

  private object Word:
    def of(statement: Array[Byte], from: Int): Word =
      if onObjects(text(key(statement, from))) then OnObject(mutable.Map.empty) else Verb(Counter())

  private val headBytes = 200
  private val onObjects = Set("CREATE", "ALTER", "DROP", "COMMENT")

  /** Words between the verb and the kind of object. */
  private val between = Set(
    Set("OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL", "UNIQUE", "RECURSIVE"),
    Set("CONSTRAINT", "TRUSTED", "PROCEDURAL", "DEFAULT", "ON")
  ).flatten

  /** Words that say too little alone. */
  private val joined =
    Set("MATERIALIZED", "FOREIGN", "EVENT", "TEXT", "ACCESS", "LARGE", "OPERATOR")

  /** Where the first word begins: `/* */` comments may come before it. */
  private def begin(statement: Array[Byte]): Int =
    var at = 0
    var depth = 0
    while at < statement.length && (depth > 0 || !isLetter(statement(at))) do
      val next = if at + 1 < statement.length then statement(at + 1) else 0
      if statement(at) == '/' && next == '*' then
        depth += 1
        at += 1
      else if statement(at) == '*' && next == '/' && depth > 0 then
        depth -= 1
        at += 1
      at += 1
    at

  /** The first eight letters from `from` on, in capitals, the first one highest. */
  private def key(statement: Array[Byte], from: Int): Long =
    var letters = 0L
    var at = from
    while at < statement.length && at < from + 8 && isLetter(statement(at)) do
      letters = letters << 8 | (statement(at) & 0xdf).toLong
      at += 1
    letters

  private def text(key: Long): String =
    val letters =
      Iterator.iterate(key)(_ >>> 8).takeWhile(_ != 0).map(k => (k & 0xff).toChar).mkString.reverse
    if letters.isEmpty then "(other)" else letters

  private def kind(statement: Array[Byte], from: Int): String =
    val head = String(statement, from, (statement.length - from).min(headBytes), ISO_8859_1)
    val words =
      head.split("[^A-Za-z_]+").iterator.map(_.toUpperCase).filterNot(between).take(3).toVector
    words.take(if words.drop(1).headOption.exists(joined) then 3 else 2).mkString(" ")

  private def isLetter(byte: Byte): Boolean =
    val capital = byte & 0xdf
    capital >= 'A' && capital <= 'Z'
