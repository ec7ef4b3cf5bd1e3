package weir.runtime

import weir.WeirSuite

/** The fields that several carriers write are on cache lines of their own, as this JVM lays objects
  * out.
  */
class PaddingSuite extends WeirSuite:

  /** Two lines of 64 bytes, which processors fetch as a pair. */
  private val apart = 128L

  private val unsafe =
    val field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null)

  private val offsetOf =
    unsafe.getClass.getMethod("objectFieldOffset", classOf[java.lang.reflect.Field])

  /** The offsets of the fields of `c`, those above it included. */
  private def offsets(c: Class[?]): Map[String, Long] =
    Iterator
      .iterate[Class[?] | Null](c)(_.nn.getSuperclass)
      .takeWhile(_ != null)
      .flatMap(_.nn.getDeclaredFields)
      .filterNot(field => java.lang.reflect.Modifier.isStatic(field.getModifiers))
      .map(field => field.getName -> offsetOf.invoke(unsafe, field).asInstanceOf[Long])
      .toMap

  private def split(o: AnyRef): (Seq[Long], Seq[Long], Seq[Long]) =
    val all = offsets(o.getClass)
    val (padding, own) =
      all.partition((name, _) => "(front|pad)\\d*".r.matches(name.split('$').last))
    val (front, after) = padding.partition(_._1.contains("front"))
    assert(own.nonEmpty && after.nonEmpty, all)
    (front.values.toSeq.sorted, own.values.toSeq.sorted, after.values.toSeq.sorted)

  for (name, o) <- List("a flag" -> Flag(), "a shard of the timer" -> AlarmShard()) do
    test(s"the fields of $name are far from its header, and from the next object"):
      val (front, own, after) = split(o)
      assert(own.head >= apart, s"at $own, padding at $front and $after")
      assert(after.last + 8 - own.last >= apart, s"at $own, padding at $front and $after")

  test("the fields of a stripe of a list are far from the next object"):
    val stripes = List(FiberRegistry(2), WorkerList(2)).map { list =>
      val field = list.getClass.getDeclaredField("stripes")
      field.setAccessible(true)
      field.get(list).asInstanceOf[Array[AnyRef]](0)
    }
    for stripe <- stripes do
      val (_, own, after) = split(stripe)
      assert(after.last + 8 - own.last >= apart, s"$stripe: at $own, padding at $after")
