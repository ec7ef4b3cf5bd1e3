package weir.postgres.protocol

import java.lang.invoke.MethodHandles
import java.nio.ByteOrder

/** Numbers as the protocol has them: the highest byte first. */
private[postgres] object Bytes:
  private val ints = MethodHandles.byteArrayViewVarHandle(classOf[Array[Int]], ByteOrder.BIG_ENDIAN)

  def int(bytes: Array[Byte], at: Int): Int = ints.get(bytes, at)
  def putInt(bytes: Array[Byte], at: Int, value: Int): Unit = ints.set(bytes, at, value)
