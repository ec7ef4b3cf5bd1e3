package weir.rules

import scala.quoted.*

/** Lists the public names of modules, each on a line with four parts between tabs: its package, the
  * type that it is a member of, an empty part for the line of that type, and the signature. It is
  * no rule: it finds all of them.
  *
  * @param root
  *   the package whose name stands in `private[weir]`
  * @param inner
  *   the packages that are no API
  */
final class PublicNames(root: String, inner: Set[String]) extends TreeRule:
  private[rules] def finder(): TreeRule.Finder = Names()

  private final class Names extends PublicMembers(root, inner):
    protected def read(using
        quotes: Quotes
    )(
        owner: quotes.reflect.Symbol,
        members: List[(quotes.reflect.Symbol, quotes.reflect.TypeRepr)]
    ): Unit =
      import quotes.reflect.*

      val flags = owner.flags
      val isObject = flags.is(Flags.Module)
      val canBeMade = !isObject && !flags.is(Flags.Trait) && !flags.is(Flags.Abstract)
      val place = packageOf(owner)
      val name = owner.fullName.stripPrefix(s"$place.").replace("$.", ".").stripSuffix("$")
      val kind =
        if name.endsWith("$package") then "definitions in the package"
        else if isObject then s"object $name"
        else if flags.is(Flags.Enum) && flags.is(Flags.Case) then s"case $name"
        else if flags.is(Flags.Enum) then s"enum $name"
        else if flags.is(Flags.Trait) then s"trait $name"
        else if flags.is(Flags.Case) then s"case class $name"
        else if flags.is(Flags.Abstract) then s"abstract class $name"
        else s"class $name"
      val (own, others) = owner.typeRef.baseClasses.tail.partition(isOwn(_))
      val superclass = others.find(one => !one.flags.is(Flags.Trait))
      val parents = (superclass.filter(_ != defn.ObjectClass).toList ++ own.filter(isPublic(_)))
        .map(one => Printed.of(owner.typeRef.baseType(one)))
      val extended = if parents.isEmpty then "" else parents.mkString(" extends ", ", ", "")
      val key = s"$place\t$name${if isObject then "$" else ""}"
      found += s"$key\t\t${Printed.modifiers(owner)}$kind${Printed.parameters(owner)}$extended"
      for
        (member, tpe) <- members
        if canBeMade || !member.isClassConstructor
        if !member.isClassDef && !member.flags.is(Flags.Module) && !member.name.contains(
          "$default$"
        )
      do found += s"$key\tmember\t${Printed.ofMember(member, tpe)}"
