package weir.macros

import scala.quoted.*

/** An instance of a type class that is nowhere. The compiler names it in its error, so its name can
  * tell the import that is missing.
  */
object Missing:
  /** Finds none. For the compiler that is as if it had not been there. */
  def none[A: Type](using Quotes): Expr[A] =
    quotes.reflect.report.errorAndAbort(s"no instance of ${Type.show[A]} is in scope")
