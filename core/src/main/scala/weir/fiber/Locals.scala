package weir.fiber

/** The values of a fiber's locals, by the object that each belongs to. It is immutable, so a fork
  * copies a reference.
  */
private[weir] type Locals = Map[AnyRef, Any]

private[weir] object Locals:

  def valueIn(locals: Locals | Null, key: AnyRef, default: Any): Any =
    if locals eq null then default else locals.getOrElse(key, default)

  /** Returns `locals` with `value` under `key`. A null `value` removes the key. */
  def updated(locals: Locals | Null, key: AnyRef, value: Any): Locals | Null =
    if value == null then
      if (locals eq null) || !locals.contains(key) then locals
      else if locals.size == 1 then null
      else locals.removed(key)
    else if locals eq null then Map(key -> value)
    else locals.updated(key, value)
