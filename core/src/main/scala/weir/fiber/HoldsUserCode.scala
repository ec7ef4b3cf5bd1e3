package weir.fiber

/** An object that keeps functions, tasks or streams of the user's in its fields, where a trace
  * looks for them. Fields that a trace must not follow, such as the next element of a list, are
  * `@transient`.
  */
private[weir] trait HoldsUserCode
