package weir.rules

import scala.quoted.*
import scala.tasty.inspector.Tasty

/** A public signature names public types alone: who may call a method can name what it takes and
  * returns.
  *
  * It reads the types of methods, values and constructors, those that the compiler inferred too. It
  * does not look at the parents of a class.
  *
  * @param root
  *   the package whose name stands in `private[weir]`
  * @param inner
  *   the packages that are no API
  */
final class PublicSignatures(root: String, inner: Set[String]) extends TreeRule:
  private[rules] def finder(): TreeRule.Finder = Signatures()

  private final class Signatures extends TreeRule.Finder:
    def inspect(using Quotes)(files: List[Tasty[quotes.type]]): Unit =
      import quotes.reflect.*

      def packageOf(symbol: Symbol): String =
        if symbol.isNoSymbol then ""
        else if symbol.isPackageDef then symbol.fullName
        else packageOf(symbol.owner)

      def isHidden(symbol: Symbol) =
        val flags = symbol.flags
        flags.is(Flags.Private) || symbol.privateWithin.isDefined || flags.is(Flags.Synthetic) ||
        flags.is(Flags.Artifact) || flags.is(Flags.PrivateLocal)

      /** Returns true if code outside of `root` can name it, by the classes around it. */
      def isPublic(symbol: Symbol): Boolean =
        if symbol.isNoSymbol then false // of a self type
        else if symbol.isPackageDef then !InnerPackages.contain(inner, symbol.fullName)
        else
          val around = symbol.owner
          !isHidden(symbol) && (around.isPackageDef || around.isClassDef) && isPublic(around)

      def classesIn(tpe: TypeRepr): Set[Symbol] =
        tpe match
          case AppliedType(constructor, arguments) =>
            classesIn(constructor) ++ arguments.flatMap(classesIn)
          case AndType(left, right) => classesIn(left) ++ classesIn(right)
          case OrType(left, right) => classesIn(left) ++ classesIn(right)
          case ByNameType(result) => classesIn(result)
          case AnnotatedType(underlying, _) => classesIn(underlying)
          case Refinement(parent, _, info) => classesIn(parent) ++ classesIn(info)
          case TypeBounds(low, high) => classesIn(low) ++ classesIn(high)
          case lambda: TypeLambda => classesIn(lambda.resType)
          case other if other.typeSymbol.isClassDef => Set(other.typeSymbol)
          case _ => Set.empty

      def check(definition: Symbol, types: List[TypeRepr]): Unit =
        for
          one <- types.flatMap(classesIn)
          if InnerPackages.contain(Set(root), packageOf(one)) && !isPublic(one)
        do found += s"${definition.fullName} names ${one.fullName}"

      object Walk extends TreeTraverser:
        override def traverseTree(tree: Tree)(owner: Symbol): Unit =
          tree match
            case method: DefDef if isPublic(method.symbol) =>
              val parameters = method.termParamss.flatMap(_.params).map(_.tpt.tpe)
              check(method.symbol, method.returnTpt.tpe :: parameters)
            case value: ValDef if isPublic(value.symbol) => check(value.symbol, List(value.tpt.tpe))
            case _: ClassDef | _: PackageClause => super.traverseTree(tree)(owner)
            case _ => // what is inside of a method is nobody's signature

      for file <- files do Walk.traverseTree(file.ast)(Symbol.spliceOwner)
