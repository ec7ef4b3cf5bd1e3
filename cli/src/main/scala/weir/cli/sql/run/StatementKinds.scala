package weir.cli.sql.run

import scala.collection.mutable
import weir.postgres.Piece

/** Counts statements by their first words: `INSERT`, `CREATE TABLE`. */
final class StatementKinds:
  import StatementKinds.*

  private val byKind = mutable.HashMap.empty[String, Counter]

  def add(statement: Piece.Statement): Unit =
    byKind.getOrElseUpdate(kind(statement), Counter()).count += 1

  /** Each kind with how often it came, the most frequent first. */
  def counts: Vector[(String, Long)] = byKind.iterator
    .map((kind, counter) => kind -> counter.count)
    .toVector
    .sortBy((kind, count) => (-count, kind))

private object StatementKinds:
  private final class Counter(var count: Long = 0)

  private def kind(statement: Piece.Statement): String =
    statement.leadingWords(1) match
      case verb :: _ if onObjects(verb) => onObject(statement.leadingWords(MostWords))
      case verb :: _ => verb
      case Nil => "(other)"

  private def onObject(leading: List[String]): String =
    val words = leading.filterNot(between)
    words.take(if words.drop(1).headOption.exists(joined) then 3 else 2).mkString(" ")

  // CREATE OR REPLACE TRUSTED PROCEDURAL LANGUAGE, and such
  private val MostWords = 8

  private val onObjects = Set("CREATE", "ALTER", "DROP", "COMMENT")

  /** Words between the verb and the kind of object. */
  private val between = Set(
    Set("OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL", "UNIQUE", "RECURSIVE"),
    Set("CONSTRAINT", "TRUSTED", "PROCEDURAL", "DEFAULT", "ON")
  ).flatten

  /** Words that say too little alone. */
  private val joined =
    Set("MATERIALIZED", "FOREIGN", "EVENT", "TEXT", "ACCESS", "LARGE", "OPERATOR")
