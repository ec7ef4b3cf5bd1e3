package weir

import java.lang.management.{ManagementFactory, MemoryType}
import scala.jdk.CollectionConverters.*

/** Measures the live objects in the heap of this JVM. */
object Heap:
  private val pools =
    ManagementFactory.getMemoryPoolMXBeans.asScala.toList.filter(_.getType == MemoryType.HEAP)

  /** Returns the number of bytes in use at the end of a collection. It does not include allocations
    * of other threads after that, as the runtime's own number does, which counts whole regions.
    */
  def used(): Long =
    System.gc()
    pools.map(_.getCollectionUsage.getUsed).sum
