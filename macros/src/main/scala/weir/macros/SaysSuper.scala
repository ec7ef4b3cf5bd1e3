package weir.macros

import scala.quoted.*

/** Whether code says `super`, at compile time. */
object SaysSuper:
  /** `true` or `false` as a constant. */
  inline def in(inline code: Any): Boolean = ${ search('code) }

  private def search(code: Expr[Any])(using Quotes): Expr[Boolean] =
    import quotes.reflect.*
    val accumulator = new TreeAccumulator[Boolean]:
      def foldTree(found: Boolean, tree: Tree)(owner: Symbol): Boolean = found || (tree match
        case Super(_, _) => true
        case _ => foldOverTree(false, tree)(owner))
    Expr(accumulator.foldTree(false, code.asTerm)(Symbol.spliceOwner))
