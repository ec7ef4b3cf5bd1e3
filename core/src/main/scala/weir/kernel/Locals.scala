package weir.kernel

/** What a fiber carries along: values by the object that they belong to. Immutable, so a fork copies a reference. */
private[weir] type Locals = Predef.Map[AnyRef, Any]

private[weir] object Locals:

  def valueIn(locals: Locals | Null, key: AnyRef, default: Any): Any =
    if locals eq null then default else locals.getOrElse(key, default)

  /** `value` null takes the key out. */
  def updated(locals: Locals | Null, key: AnyRef, value: Any): Locals | Null =
    if value == null then
      if (locals eq null) || !locals.contains(key) then locals
      else if locals.size == 1 then null
      else locals.removed(key)
    else if locals eq null then Predef.Map(key -> value)
    else locals.updated(key, value)
