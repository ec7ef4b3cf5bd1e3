package weir.macros

import scala.quoted.*

/** Decides at compile time whether code can be moved into a class of its own. */
object Movable:
  /** Returns `true` or `false` as a constant. Returns false if the code, in a class of its own,
    * would
    *
    *   - not compile, or not be allowed to run: it contains `super`, or names a protected member of
    *     a Java class, for which the compiler makes no accessor if it is static;
    *   - keep more alive than a function would. Functions, arguments by name and objects of local
    *     classes in it reach the variables around it by way of the new class, which holds all of
    *     them. A local method is called by way of the object that it stands in.
    */
  inline def apply(inline code: Any): Boolean = ${ judge('code) }

  private def judge(code: Expr[Any])(using Quotes): Expr[Boolean] =
    import quotes.reflect.*

    def isLocalMethod(symbol: Symbol) =
      (symbol.isDefDef || symbol.flags.is(Flags.Lazy)) && symbol.maybeOwner.isTerm

    def isProtectedInJava(symbol: Symbol) =
      symbol.flags.is(Flags.Protected) &&
        (symbol.flags.is(Flags.JavaDefined) || symbol.owner == defn.ObjectClass)

    def takesByName(function: Term) = function.tpe.widen match
      case MethodType(_, parameters, _) =>
        parameters.exists:
          case ByNameType(_) => true
          case _ => false
      case _ => false

    val stays = new TreeAccumulator[Boolean]:
      def foldTree(found: Boolean, tree: Tree)(owner: Symbol): Boolean = found || (tree match
        case Super(_, _) | Closure(_, _) | ClassDef(_, _, _, _, _) => true
        case ref: Ref if isLocalMethod(ref.symbol) || isProtectedInJava(ref.symbol) => true
        case Apply(function, _) if takesByName(function) => true
        case _ => foldOverTree(false, tree)(owner))
    Expr(!stays.foldTree(false, code.asTerm)(Symbol.spliceOwner))
