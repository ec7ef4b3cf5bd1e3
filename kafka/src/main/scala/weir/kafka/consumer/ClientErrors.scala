package weir.kafka.consumer

import org.apache.kafka.clients.consumer.CommitFailedException
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{
  AuthorizationException,
  FencedMemberEpochException,
  IllegalGenerationException,
  InvalidProducerEpochException,
  OutOfOrderSequenceException,
  ProducerFencedException,
  RebalanceInProgressException,
  RetriableException,
  StaleMemberEpochException,
  TransactionAbortableException,
  UnknownMemberIdException,
  UnsupportedVersionException
}
import org.apache.kafka.common.protocol.Errors
import weir.kafka.KafkaFailure.causes

/** Decides which errors of Kafka's clients pass. `ClientErrorsSuite` has a row for each kind, with
  * all errors of the protocol.
  */
private[kafka] object ClientErrors:
  enum Kind:
    /** A broker is away, or not ready: the same call may succeed later. */
    case OfBroker

    /** The group refuses this member, which belongs to an earlier generation, or which the group
      * has forgotten. The client joins again by itself.
      */
    case OfGroup

    /** The transaction must be aborted, and may then be begun again. */
    case OfTransaction

    /** The producer cannot be used any more. */
    case OfProducer

    /** It would come again: the stream fails. */
    case Lasting

  /** `FencedInstanceIdException` is not one of the group: if a member joined again after it, it
    * would fence the other one that has its `group.instance.id`, and so on.
    */
  def kindOf(error: Throwable): Kind = error match
    case _: RetriableException => Kind.OfBroker
    case _: (CommitFailedException | RebalanceInProgressException | StaleMemberEpochException |
          FencedMemberEpochException | IllegalGenerationException | UnknownMemberIdException) =>
      Kind.OfGroup
    case unexpected: KafkaException if isOfForgottenGroup(unexpected) => Kind.OfGroup
    case _: TransactionAbortableException => Kind.OfTransaction
    case _: (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException |
          UnsupportedVersionException | InvalidProducerEpochException) =>
      Kind.OfProducer
    case _ => Kind.Lasting

  /** The brokers have forgotten the whole group, as when it was deleted while its members were
    * away. They refuse a commit, but take a member that joins. Kafka's client knows no such error
    * of a commit, so that only the text says it.
    */
  private def isOfForgottenGroup(error: KafkaException): Boolean =
    error.getClass == classOf[KafkaException] && error.getMessage != null &&
      error.getMessage.endsWith(Errors.GROUP_ID_NOT_FOUND.message)

  /** Returns true if a later call of a consumer may succeed. */
  def mayPass(error: Throwable): Boolean = kindOf(error) match
    case Kind.OfBroker | Kind.OfGroup => true
    case _ => false

  /** Returns true if the error, or a cause of it, is of one of these kinds. */
  def isOf(error: Throwable, kinds: Kind*): Boolean =
    causes(error).exists(cause => kinds.contains(kindOf(cause)))
