package weir.rules

import scala.quoted.*
import scala.tasty.inspector.Tasty

/** A module uses the public API of the other modules alone: neither an inner package nor a member
  * that is private to `root`.
  *
  * To the JVM such members are public, so this reads TASTy. It sees what the sources say: imports,
  * names, calls, types that are written. It does not see what an inline method expands to, which is
  * the business of the module that has the method; nor a type that the compiler inferred; nor Java
  * sources. Of the trees that it is shown it reads those of the module's package.
  *
  * @param root
  *   the package whose name stands in `private[weir]`
  * @param own
  *   the module's package
  * @param inner
  *   the packages that are no API
  */
final class PublicUse(root: String, own: String, inner: Set[String]) extends TreeRule:
  private[rules] def finder(): TreeRule.Finder = Uses()

  private final class Uses extends TreeRule.Finder:
    def inspect(using Quotes)(files: List[Tasty[quotes.type]]): Unit =
      import quotes.reflect.*

      def packageOf(symbol: Symbol): String =
        if symbol.isNoSymbol then ""
        else if symbol.isPackageDef then symbol.fullName
        else packageOf(symbol.owner)

      /** Why nobody outside may use it, if so. */
      def barrier(symbol: Symbol): Option[String] =
        val place = packageOf(symbol)
        def isOwn = InnerPackages.contain(Set(own), place)
        if !InnerPackages.contain(Set(root), place) || isOwn then None
        else
          val within = symbol.privateWithin.orElse(symbol.protectedWithin)
          within match
            case Some(scope) => Some(s"is private to ${scope.typeSymbol.fullName}")
            // A member may be one that a public class inherits: its own class is no barrier.
            case None if isNamedByItself(symbol) && InnerPackages.contain(inner, place) =>
              Some(s"is in the inner package $place")
            case None => None

      def isNamedByItself(symbol: Symbol) =
        symbol.isPackageDef || symbol.isType || symbol.flags.is(Flags.Module)

      object Walk extends TreeTraverser:
        override def traverseTree(tree: Tree)(owner: Symbol): Unit =
          tree match
            case _: Ident | _: Select | _: TypeIdent | _: TypeSelect if !tree.symbol.isNoSymbol =>
              for reason <- barrier(tree.symbol) do
                val place = s"${tree.pos.sourceFile.name}:${tree.pos.startLine + 1}"
                found += s"$place uses ${tree.symbol.fullName}, which $reason"
            case _ =>
          super.traverseTree(tree)(owner)

      for file <- files do
        file.ast match
          case clause @ PackageClause(name, _)
              if InnerPackages.contain(Set(own), name.symbol.fullName) =>
            Walk.traverseTree(clause)(Symbol.spliceOwner)
          case _ =>
