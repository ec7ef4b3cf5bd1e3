package weir.kafka.consumer

import java.util.Map as JMap
import org.apache.kafka.common.header.Headers
import org.apache.kafka.common.serialization.Serializer

/** A key or value to write with the bytes that it was read with, null for none. */
private[kafka] final class AsRead(val bytes: Array[Byte])

private[kafka] object AsRead:
  /** The user's serializer, but for bytes that were read. */
  final class Or[A](serializer: Serializer[A]) extends Serializer[Any]:
    override def configure(properties: JMap[String, ?], isKey: Boolean): Unit =
      serializer.configure(properties, isKey)

    override def serialize(topic: String, value: Any): Array[Byte] = value match
      case asRead: AsRead => asRead.bytes
      case _ => serializer.serialize(topic, value.asInstanceOf[A])

    override def serialize(topic: String, headers: Headers, value: Any): Array[Byte] = value match
      case asRead: AsRead => asRead.bytes
      case _ => serializer.serialize(topic, headers, value.asInstanceOf[A])

    override def close(): Unit = serializer.close()
