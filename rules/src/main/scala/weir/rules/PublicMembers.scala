package weir.rules

import scala.collection.mutable
import scala.quoted.*
import scala.tasty.inspector.Tasty

/** Reads the public classes of modules, each with its public members. A class or a member is public
  * if code outside of the package `root` can name it. What a public class inherits from a class
  * that is not public is among its members.
  *
  * @param root
  *   the package whose name stands in `private[weir]`
  * @param inner
  *   the packages that are no API
  */
private[rules] abstract class PublicMembers(root: String, inner: Set[String])
    extends TreeRule.Finder:

  /** Called once for each public class, trait, object, and file with definitions outside of these.
    *
    * @param members
    *   its public members, each with its type as a member of `owner`
    */
  protected def read(using
      quotes: Quotes
  )(
      owner: quotes.reflect.Symbol,
      members: List[(quotes.reflect.Symbol, quotes.reflect.TypeRepr)]
  ): Unit

  /** The classes that are not public and from which public ones inherit: those inside of them are
    * members of the public ones.
    */
  private val inherited = mutable.Set[String]()

  protected final def isPublic(using quotes: Quotes)(symbol: quotes.reflect.Symbol): Boolean =
    if symbol.isNoSymbol then false // of a self type
    else if symbol.isPackageDef then !InnerPackages.contain(inner, symbol.fullName)
    else
      val around = symbol.owner
      !isHidden(symbol) && (around.isPackageDef || around.isClassDef) &&
      (isPublic(around) || inherited(around.fullName))

  private def isHidden(using quotes: Quotes)(symbol: quotes.reflect.Symbol): Boolean =
    import quotes.reflect.*
    val flags = symbol.flags
    val isMade = flags.is(Flags.Synthetic) || flags.is(Flags.Artifact)
    flags.is(Flags.Private) || flags.is(Flags.PrivateLocal) || symbol.privateWithin.isDefined ||
    isMade && !hasDefinitions(symbol)

  /** Returns true for an object that the compiler makes of definitions outside of a class, or of
    * the cases of an enum.
    */
  private def hasDefinitions(using quotes: Quotes)(symbol: quotes.reflect.Symbol): Boolean =
    import quotes.reflect.*
    symbol.name.stripSuffix("$").endsWith("$package") ||
    symbol.flags.is(Flags.Module) && symbol.companionClass.flags.is(Flags.Enum)

  protected final def packageOf(using quotes: Quotes)(symbol: quotes.reflect.Symbol): String =
    if symbol.isNoSymbol then ""
    else if symbol.isPackageDef then symbol.fullName
    else packageOf(symbol.owner)

  protected final def isOwn(using quotes: Quotes)(symbol: quotes.reflect.Symbol): Boolean =
    InnerPackages.contain(Set(root), packageOf(symbol))

  private def membersOf(using
      quotes: Quotes
  )(
      owner: quotes.reflect.Symbol
  ): List[(quotes.reflect.Symbol, quotes.reflect.TypeRepr)] =
    import quotes.reflect.*
    for
      one <- owner :: hiddenParents(owner)
      member <- one.declarations
      if (member.isTerm || member.isAliasType || member.isAbstractType) && !isHidden(member)
      if !member.flags.is(Flags.Param) && !member.isTypeParam
      if !(member.isClassConstructor && one != owner)
    yield (member, This(owner).tpe.memberType(member))

  private def hiddenParents(using
      quotes: Quotes
  )(
      owner: quotes.reflect.Symbol
  ): List[quotes.reflect.Symbol] =
    owner.typeRef.baseClasses.tail.filter(one => isOwn(one) && !isPublic(one))

  final def inspect(using Quotes)(files: List[Tasty[quotes.type]]): Unit =
    import quotes.reflect.*
    val classes = mutable.ListBuffer[Symbol]()
    object Walk extends TreeTraverser:
      override def traverseTree(tree: Tree)(owner: Symbol): Unit =
        tree match
          case definition: ClassDef =>
            classes += definition.symbol
            super.traverseTree(tree)(owner)
          case _: PackageClause => super.traverseTree(tree)(owner)
          case _ => // what is inside of a method is nobody's API
    for file <- files do Walk.traverseTree(file.ast)(Symbol.spliceOwner)
    def public = classes.filter(one => isOwn(one) && isPublic(one))
    inherited ++= public.flatMap(hiddenParents(_)).map(_.fullName)
    for owner <- public do read(owner, membersOf(owner))
