package weir.feeds.parse

import java.util.Locale
import scala.collection.mutable

/** An element of a feed, as far as it has been read. It is the same for well-formed and malformed
  * XML.
  *
  * @param name
  *   its name in lower case, after the usual prefix of its namespace ([[Vocabulary]]): `item`,
  *   `content:encoded`
  * @param attributes
  *   by their names in lower case
  * @param base
  *   the address that relative links in it are resolved against
  */
private[parse] final class Node(
    val name: String,
    val attributes: Map[String, String],
    val base: String
):
  private val content = mutable.ArrayBuffer.empty[Node | String]

  /** True if its end was there, too, and not only the end of the document. */
  var isWhole = true

  private[parse] def add(part: Node | String): Unit = content += part

  /** Elements and text in their order. */
  def parts: Iterator[Node | String] = content.iterator

  def children: Iterator[Node] = parts.collect { case node: Node => node }

  def named(name: String): Iterator[Node] = children.filter(_.name == name)

  def attribute(name: String): Option[String] =
    attributes.get(name).map(_.trim).filter(_.nonEmpty)

  /** Its name without a prefix. */
  def localName: String = name.substring(name.indexOf(':') + 1)

  /** All text in it, of its descendants as well. */
  def text: String =
    val all = java.lang.StringBuilder()
    def add(node: Node): Unit = node.parts.foreach:
      case inner: Node => add(inner)
      case text: String => all.append(text): Unit
    add(this)
    all.toString

  /** It, then its descendants in the order of the document; what `isLeaf` holds of is not entered.
    */
  def descendants(isLeaf: Node => Boolean): Iterator[Node] =
    val below = if isLeaf(this) then Iterator.empty else children.flatMap(_.descendants(isLeaf))
    Iterator.single(this) ++ below

private[parse] object Node:
  /** Deeper than any feed is; the methods of a node recurse. */
  val deepest = 200

  /** Builds a document from the events of a parser.
    *
    * Namespaces are followed here, and not by the parser, since feeds use prefixes that they never
    * bind.
    *
    * @param base
    *   the address of the document
    */
  final class Builder(base: String):
    private val document = Node("", Map.empty, base)
    private val vocabulary = Vocabulary()
    private val open =
      mutable.ArrayDeque(Open(document, vocabulary.usual, depth = 0, around = null))

    /** Begins an element. Beyond the depth [[deepest]] it is left out, and its text belongs to its
      * parent.
      *
      * An entry that begins directly in an entry, because the outer one is not closed, becomes its
      * sibling.
      */
    def begin(qualifiedName: String, attributes: Seq[(String, String)]): Unit =
      val outer = open.last
      if outer.depth >= deepest then open.append(outer)
      else
        val scope = vocabulary.within(outer.scope, qualifiedName, attributes)
        val named =
          attributes.map((name, value) => vocabulary.attribute(scope, name) -> value).toMap
        val name = vocabulary.element(scope, qualifiedName)
        val parent = if isEntry(name) && isEntry(outer.node.name) then outer.around.nn else outer
        // CDF has an attribute of its own for it.
        val written = named.get("xml:base").orElse(named.get("base").filter(_ => name == "channel"))
        val base = written.fold(parent.node.base)(Link.base(parent.node.base, _))
        val node = Node(name, named, base)
        parent.node.add(node)
        open.append(Open(node, scope, parent.depth + 1, parent))

    def text(text: String): Unit = if text.nonEmpty then open.last.node.add(text)

    /** Ends the element that was begun last. */
    def end(isWhole: Boolean): Unit =
      val ended = open.removeLast()
      if !isWhole && (ended ne open.last) then ended.node.isWhole = false

    /** The document: a node without a name. */
    def result: Node = document

  /** An element that has begun and not ended. */
  private final class Open(
      val node: Node,
      val scope: Vocabulary.Scope,
      val depth: Int,
      val around: Open | Null
  )

  /** Returns true if an element of this name is an entry of a feed. */
  def isEntry(name: String): Boolean = name == "item" || name == "entry"

  private[parse] def lower(text: String): String = text.toLowerCase(Locale.ROOT)
