package weir.rules

import scala.quoted.*

/** Writes types and signatures as the sources do, but for the packages, which are left out. */
private[rules] object Printed:

  def of(using quotes: Quotes)(tpe: quotes.reflect.TypeRepr): String =
    import quotes.reflect.*
    tpe match
      case AppliedType(constructor, arguments) => applied(constructor, arguments)
      case ByNameType(result) => s"=> ${of(result)}"
      case OrType(left, right) => s"${of(left)} | ${of(right)}"
      case AndType(left, right) => s"${of(left)} & ${of(right)}"
      case AnnotatedType(underlying, annotation) =>
        val isRepeated = annotation.tpe.typeSymbol.name == "Repeated"
        underlying match
          case AppliedType(_, List(element)) if isRepeated => s"${of(element)}*"
          case _ => of(underlying)
      case _: ThisType => "this.type"
      case TypeLambda(_, _, AppliedType(constructor, _)) => of(constructor)
      case bounds: TypeBounds => if isWide(bounds) then "?" else s"?${boundsOf(bounds)}"
      case other => other.show(using Printer.TypeReprShortCode)

  private def applied(using
      quotes: Quotes
  )(
      constructor: quotes.reflect.TypeRepr,
      arguments: List[quotes.reflect.TypeRepr]
  ): String =
    def list(types: List[quotes.reflect.TypeRepr]) = types.map(of(_)).mkString(", ")
    def from(types: List[quotes.reflect.TypeRepr]) = types match
      case List(one) if !isFunction(one) => of(one)
      case _ => s"(${list(types)})"
    of(constructor) match
      case s"Function$_" => s"${from(arguments.init)} => ${of(arguments.last)}"
      case s"ContextFunction$_" => s"${from(arguments.init)} ?=> ${of(arguments.last)}"
      case s"Tuple$_" => s"(${list(arguments)})"
      case "<repeated>" => s"${of(arguments.head)}*"
      case "<:<" => s"${of(arguments.head)} <:< ${of(arguments.last)}"
      case name => s"$name[${list(arguments)}]"

  private def isFunction(using quotes: Quotes)(tpe: quotes.reflect.TypeRepr): Boolean =
    tpe.isFunctionType || tpe.typeSymbol.name.startsWith("Tuple")

  private def isWide(using quotes: Quotes)(bounds: quotes.reflect.TypeBounds): Boolean =
    boundsOf(bounds).isEmpty

  private def boundsOf(using quotes: Quotes)(bounds: quotes.reflect.TypeBounds): String =
    import quotes.reflect.*
    def result(tpe: TypeRepr): TypeRepr = tpe match
      case lambda: TypeLambda => lambda.resType
      case other => other
    val low = if bounds.low =:= TypeRepr.of[Nothing] then "" else s" >: ${of(bounds.low)}"
    val high = bounds.hi match
      case lambda: TypeLambda =>
        result(lambda) match
          case AppliedType(constructor, _) => s"[_] <: ${of(constructor)}"
          case _ => "[_]"
      case hi => if hi =:= TypeRepr.of[Any] then "" else s" <: ${of(hi)}"
    (if high.startsWith("[_]") then "" else low) + high

  /** Returns the type parameters of a class, with its variances and bounds. */
  def parameters(using quotes: Quotes)(owner: quotes.reflect.Symbol): String =
    import quotes.reflect.*
    val parameters = for one <- owner.declaredTypes if one.isTypeParam yield
      val variance =
        if one.flags.is(Flags.Covariant) then "+"
        else if one.flags.is(Flags.Contravariant) then "-"
        else ""
      owner.typeRef.memberType(one) match
        case bounds: TypeBounds => variance + one.name + boundsOf(bounds)
        case _ => variance + one.name
    if parameters.isEmpty then "" else parameters.mkString("[", ", ", "]")

  def modifiers(using quotes: Quotes)(symbol: quotes.reflect.Symbol): String =
    import quotes.reflect.*
    val flags = symbol.flags
    val isMeant = !flags.is(Flags.Enum) && !flags.is(Flags.Module)
    List(
      Flags.Protected -> "protected ",
      Flags.Inline -> "inline ",
      Flags.Final -> "final ",
      Flags.Sealed -> "sealed ",
      Flags.Given -> "given ",
      Flags.ExtensionMethod -> "extension "
    ).collect {
      case (flag, word) if flags.is(flag) && (isMeant || flag == Flags.Protected) => word
    }.mkString

  /** Returns the line of a member that has the type `tpe`. */
  def ofMember(using
      quotes: Quotes
  )(member: quotes.reflect.Symbol, tpe: quotes.reflect.TypeRepr): String =
    import quotes.reflect.*
    val flags = member.flags
    val ofParameters = member.paramSymss.flatten
    val defaults = ofParameters.filter(_.flags.is(Flags.HasDefault)).map(_.name).toSet

    def ending(tpe: TypeRepr): String =
      tpe match
        case poly: PolyType =>
          val parameters =
            for (name, bounds) <- poly.paramNames.zip(poly.paramBounds)
            yield name + boundsOf(bounds)
          if member.isClassConstructor then ending(poly.resType)
          else parameters.mkString("[", ", ", "]") + ending(poly.resType)
        case method @ MethodType(names, types, result) =>
          val parameters = for (name, tpe) <- names.zip(types) yield
            val label = if name.startsWith("x$") then "" else s"$name: "
            label + of(tpe) + (if defaults(name) then " = …" else "")
          val begin = if method.isContextual then "(using " else "("
          parameters.mkString(begin, ", ", ")") + ending(result)
        case _ if member.isClassConstructor => ""
        case ByNameType(result) => s": ${of(result)}"
        case result => s": ${of(result)}"

    if member.isClassConstructor then s"new${ending(tpe)}"
    else if member.isType then
      s"${if flags.is(Flags.Opaque) then "opaque " else ""}type ${member.name}"
    else
      val kind =
        if flags.is(Flags.Given) then ""
        else if flags.is(Flags.Enum) then "case "
        else if flags.is(Flags.Mutable) then "var "
        else if member.isValDef then "val "
        else "def "
      modifiers(member) + kind + member.name + ending(tpe)
