package weir.rules

import scala.quoted.*

/** A public signature names public types alone: who may call a method can name what it takes and
  * returns.
  *
  * It reads the types of methods, values and constructors, those that the compiler inferred too,
  * and those that a public class inherits from one that is not public. It does not look at the
  * parents of a class.
  *
  * @param root
  *   the package whose name stands in `private[weir]`
  * @param inner
  *   the packages that are no API
  */
final class PublicSignatures(root: String, inner: Set[String]) extends TreeRule:
  private[rules] def finder(): TreeRule.Finder = Signatures()

  private final class Signatures extends PublicMembers(root, inner):
    protected def read(using
        quotes: Quotes
    )(
        owner: quotes.reflect.Symbol,
        members: List[(quotes.reflect.Symbol, quotes.reflect.TypeRepr)]
    ): Unit =
      import quotes.reflect.*

      def classesIn(tpe: TypeRepr): Set[Symbol] =
        tpe match
          case MethodType(_, parameters, result) =>
            parameters.flatMap(classesIn).toSet ++ classesIn(result)
          case poly: PolyType =>
            poly.paramBounds.flatMap(classesIn).toSet ++ classesIn(poly.resType)
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

      for
        (member, tpe) <- members
        if member.isTerm
        one <- classesIn(tpe)
        if isOwn(one) && !isPublic(one)
      do found += s"${owner.fullName}.${member.name} names ${one.fullName}"
