package weir.kafka

/** The protocol by which the members of a consumer group divide the partitions among themselves. */
enum GroupProtocol(private[kafka] val id: String):
  /** The protocol that every broker supports. Partitions that stay with their consumer are not
    * stopped (`CooperativeStickyAssignor`).
    */
  case Classic extends GroupProtocol("classic")

  /** The protocol of KIP-848, in which the broker assigns partitions. Needs a broker of version 4.0
    * or newer.
    */
  case Consumer extends GroupProtocol("consumer")
