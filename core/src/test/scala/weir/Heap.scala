package weir

import java.lang.management.{ManagementFactory, MemoryType}
import scala.jdk.CollectionConverters.*

/** What is alive in the heap of this JVM. */
object Heap:
  private val pools =
    ManagementFactory.getMemoryPoolMXBeans.asScala.toList.filter(_.getType == MemoryType.HEAP)

  /** Bytes in use at the end of a collection. What other threads take after it is not in it, as it
    * would be in what the runtime tells: that counts whole regions.
    */
  def used(): Long =
    for _ <- 1 to 2 do System.gc()
    pools.map(_.getCollectionUsage.getUsed).sum
