package weir.feeds.store

import scala.collection.immutable.TreeMap

/** Groups by text that strangers chose. */
private[store] object Groups:
  /** `values` by their keys, each group in order. A tree, since strings that have one hash code are
    * easily made, and would take quadratic time in a hash map.
    */
  def by[A](values: Vector[A])(key: A => String): TreeMap[String, Vector[A]] =
    values.foldLeft(TreeMap.empty[String, Vector[A]]): (groups, value) =>
      groups.updatedWith(key(value))(group => Some(group.getOrElse(Vector.empty) :+ value))
