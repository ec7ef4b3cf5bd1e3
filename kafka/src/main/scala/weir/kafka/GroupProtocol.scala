package weir.kafka

/** The protocol by which the members of a consumer group divide the partitions among themselves. */
enum GroupProtocol(private[kafka] val id: String):
  /** The one that every broker speaks. Partitions that stay with their consumer are not stopped
    * (`CooperativeStickyAssignor`).
    */
  case Classic extends GroupProtocol("classic")

  /** The one of KIP-848, where the broker assigns partitions: brokers from 4.0 on. */
  case Consumer extends GroupProtocol("consumer")
