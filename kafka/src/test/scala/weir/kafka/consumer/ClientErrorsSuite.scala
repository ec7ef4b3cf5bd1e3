package weir.kafka.consumer

import munit.FunSuite
import org.apache.kafka.clients.consumer.{CommitFailedException, RetriableCommitFailedException}
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{DisconnectException, WakeupException}
import org.apache.kafka.common.protocol.Errors

/** Has what becomes of each error that brokers answer with. A version of the client with more
  * errors fails here, until somebody has decided about them.
  */
class ClientErrorsSuite extends FunSuite:
  import ClientErrors.Kind

  private def words(text: String): Set[String] = text.split("\\s+").filter(_.nonEmpty).toSet

  /** By the names of their classes, without the end that most have. */
  private val table = Map(
    Kind.OfBroker -> words("""
      ConcurrentTransactions CoordinatorLoadInProgress CoordinatorNotAvailable CorruptRecord
      ElectionNotNeeded EligibleLeadersNotAvailable FencedLeaderEpoch FetchSessionIdNotFound
      FetchSessionTopicId InconsistentTopicId InvalidFetchSessionEpoch InvalidShareSessionEpoch
      KafkaStorage LeaderNotAvailable ListenerNotFound Network NotController NotCoordinator
      NotEnoughReplicas NotEnoughReplicasAfterAppend NotLeaderOrFollower OffsetNotAvailable
      PreferredLeaderNotAvailable ReplicaNotAvailable ShareSessionLimitReached
      ShareSessionNotFound ThrottlingQuotaExceeded Timeout UnknownLeaderEpoch UnknownTopicId
      UnknownTopicOrPartition UnstableOffsetCommit
    """),
    Kind.OfGroup -> words("""
      FencedMemberEpoch IllegalGeneration RebalanceInProgress StaleMemberEpoch UnknownMemberId
    """),
    Kind.OfTransaction -> words("TransactionAbortable"),
    Kind.OfProducer -> words("""
      ClusterAuthorization DelegationTokenAuthorization GroupAuthorization InvalidProducerEpoch
      OutOfOrderSequence ProducerFenced TopicAuthorization TransactionalIdAuthorization
      UnknownProducerId UnsupportedVersion
    """),
    Kind.Lasting -> words("""
      BrokerIdNotRegistered BrokerNotAvailable ControllerIdNotRegistered ControllerMoved
      DelegationTokenDisabled DelegationTokenExpired DelegationTokenNotFound
      DelegationTokenOwnerMismatch DuplicateBrokerRegistration DuplicateResource DuplicateSequence
      DuplicateVoter FeatureUpdateFailed FencedInstanceId FencedStateEpoch GroupDeletionFailed
      GroupIdNotFound GroupMaxSizeReached GroupNotEmpty GroupSubscribedToTopic IllegalSaslState
      InconsistentClusterId InconsistentGroupProtocol InconsistentVoterSet IneligibleReplica
      InvalidCommitOffsetSize InvalidConfiguration InvalidFetchSize InvalidGroupId
      InvalidPartitions InvalidPidMapping InvalidPrincipalType InvalidRecord InvalidRecordState
      InvalidRegistration InvalidRegularExpression InvalidReplicaAssignment
      InvalidReplicationFactor InvalidRequest InvalidRequiredAcks InvalidSessionTimeout
      InvalidTimestamp InvalidTopic InvalidTxnState InvalidTxnTimeout InvalidUpdateVersion
      InvalidVoterKey LogDirNotFound MemberIdRequired MismatchedEndpointType NewLeaderElected
      NoReassignmentInProgress OffsetMetadataTooLarge OffsetMovedToTieredStorage OffsetOutOfRange
      OperationNotAttempted PolicyViolation PositionOutOfRange PrincipalDeserialization
      ReassignmentInProgress RebootstrapRequired RecordBatchTooLarge RecordTooLarge
      ResourceNotFound SaslAuthentication SecurityDisabled SnapshotNotFound StaleBrokerEpoch
      StreamsInvalidTopology StreamsInvalidTopologyEpoch StreamsTopologyDescriptionUpdateFailed
      StreamsTopologyFenced TelemetryTooLarge TopicDeletionDisabled TopicExists
      TransactionCoordinatorFenced TransactionalIdNotFound UnacceptableCredential
      UnknownControllerId UnknownServer UnknownSubscriptionId UnreleasedInstanceId
      UnsupportedAssignor UnsupportedByAuthentication UnsupportedCompressionType
      UnsupportedEndpointType UnsupportedForMessageFormat UnsupportedSaslMechanism VoterNotFound
    """)
  )

  private val ofProtocol = Errors.values.toVector.map(_.exception).filter(_ != null)

  private def nameOf(error: Throwable) = error.getClass.getSimpleName.stripSuffix("Exception")

  for kind <- Kind.values do
    test(s"the errors of brokers that are $kind"):
      val found = ofProtocol.filter(ClientErrors.kindOf(_) == kind).map(nameOf).toSet
      assertEquals((found -- table(kind)).toVector.sorted, Vector.empty[String], "not in the table")
      assertEquals((table(kind) -- found).toVector.sorted, Vector.empty[String], "of another kind")

  test("the errors that the client has by itself"):
    val unexpected = "Unexpected error in commit: "
    val kinds = List(
      DisconnectException() -> Kind.OfBroker,
      RetriableCommitFailedException("not now") -> Kind.OfBroker,
      CommitFailedException() -> Kind.OfGroup,
      KafkaException(unexpected + Errors.GROUP_ID_NOT_FOUND.message) -> Kind.OfGroup,
      KafkaException(unexpected + Errors.UNKNOWN_SERVER_ERROR.message) -> Kind.Lasting,
      WakeupException() -> Kind.Lasting,
      KafkaException(null: String) -> Kind.Lasting
    )
    for (error, kind) <- kinds do assertEquals(ClientErrors.kindOf(error), kind, error.toString)

  test("a poll and a commit go on after errors of brokers and of the group alone"):
    val passing = ofProtocol.filter(ClientErrors.mayPass).map(nameOf).toSet
    assertEquals(passing, table(Kind.OfBroker) ++ table(Kind.OfGroup))

  test("a transaction looks for its error among the causes"):
    val inErrorState =
      KafkaException("we are in an error state", Errors.UNKNOWN_MEMBER_ID.exception)
    assert(ClientErrors.isOf(inErrorState, Kind.OfBroker, Kind.OfGroup))
    assert(!ClientErrors.isOf(inErrorState, Kind.OfProducer, Kind.OfTransaction))
