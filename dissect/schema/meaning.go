package schema

import (
	"strings"

	"github.com/kdissect/kdissect/tree"
)

// meaning sets in d what a field of m means beyond its type: its role, the words for its
// values, whether it is a time and whether it is secret. For an array, d is of its elements.
func meaning(d *tree.Desc, m *Message, structName string, f *FieldDef, op Op) {
	d.Role = uint8(role(m, structName, f, op))
	if op == OpInt8 || op == OpInt16 || op == OpInt64 {
		if e, ok := enumeration(m, structName, f); ok {
			d.Names = e
		}
	}
	if op == OpInt32 && strings.HasSuffix(f.Name, "AuthorizedOperations") {
		d.Names = authorizedOperations{}
	}
	d.Time = op == OpInt64 && !f.IsArray() && times[f.Name]
	d.Secret = op == OpBytes && secret(m, f.Name)
}

// lookup finds what a table says about a field, narrowest key first: "Message.Struct.Field",
// "Message.Field", "Api.Field", "Field".
func lookup[T any](table map[string]T, m *Message, structName, field string) (T, bool) {
	for _, key := range [...]string{
		m.Name + "." + structName + "." + field, m.Name + "." + field, m.apiName() + "." + field, field,
	} {
		if v, ok := table[key]; ok {
			return v, true
		}
	}
	var zero T
	return zero, false
}

// enumeration returns the words for the values of a field.
func enumeration(m *Message, structName string, f *FieldDef) (names, bool) {
	return lookup(enumerations, m, structName, f.Name)
}

// enumerations assigns words to fields, by the keys of lookup.
var enumerations = map[string]names{
	"ErrorCode":            errorNames,
	"PartitionErrorCode":   errorNames,
	"TopicConfigErrorCode": errorNames,
	"AcknowledgeErrorCode": errorNames,

	"Operation":           aclOperations,
	"PermissionType":      aclPermissions,
	"PatternType":         aclPatternTypes,
	"PatternTypeFilter":   aclPatternTypes,
	"ResourcePatternType": aclPatternTypes,
	"ResourceTypeFilter":  aclResourceTypes,

	"DescribeAcls.ResourceType":             aclResourceTypes,
	"CreateAcls.ResourceType":               aclResourceTypes,
	"DeleteAcls.ResourceType":               aclResourceTypes,
	"AccessControlEntryRecord.ResourceType": aclResourceTypes,
	"ResourceType":                          configResourceTypes,
	"ResourceTypes":                         configResourceTypes,

	"ConfigSource":           configSources,
	"DescribeConfigs.Source": configSources,
	"ConfigType":             configTypes,
	"ConfigOperation":        configOps,

	"IsolationLevel":   isolationLevels,
	"ElectionType":     electionTypes,
	"KeyType":          coordinatorTypes,
	"MemberType":       memberTypes,
	"MatchType":        quotaMatches,
	"Mechanism":        scramMechanisms,
	"UpgradeType":      upgradeTypes,
	"EndpointType":     endpointTypes,
	"SecurityProtocol": securityProtocols,

	"CompressionType":          codecs,
	"AcceptedCompressionTypes": codecs,

	"AcknowledgeTypes": acknowledgeTypes,
	"DeliveryState":    deliveryStates,
	"ShareAcquireMode": shareAcquireModes,

	"ListOffsetsRequest.Timestamp": offsetTargets,

	"LeaderAndIsrRequest.Type":                            requestSources,
	"UpdateMetadataRequest.Type":                          requestSources,
	"LeaderRecoveryState":                                 recoveryStates,
	"PartitionChangeRecord.LeaderRecoveryState":           recoveryChanges,
	"BrokerRegistrationChangeRecord.Fenced":               fencingChanges,
	"BrokerRegistrationChangeRecord.InControlledShutdown": shutdownChanges,
	"ZkMigrationState":                                    migrationStates,

	"TransactionStatus": transactionStates,
	"ConsumerGroupCurrentMemberAssignmentValue.State": consumerMemberStates,
	"ShareGroupCurrentMemberAssignmentValue.State":    consumerMemberStates,
	"StreamsGroupCurrentMemberAssignmentValue.State":  streamsMemberStates,

	"StatusCode":                   streamsStatuses,
	"NodeType":                     topologyNodeTypes,
	"TopologyDescriptionStatus":    topologyDescriptions,
	"RemoteLogSegmentState":        segmentStates,
	"RemotePartitionDeleteState":   deleteStates,
	"ControlRecordTypeSchema.Type": controlTypes,
}

// times are the int64 fields that hold milliseconds since 1970; durations are not among them.
var times = set("AssignmentTimestamp", "CommitTimestamp", "commitTimestamp", "CreateTimestamp",
	"currentStateTimestamp", "EventTimestampMs", "ExpirationTimestamp", "expireTimestamp", "ExpiryTimestamp",
	"ExpiryTimestampMs", "IssueTimestamp", "IssueTimestampMs", "LastCaughtUpTimestamp",
	"LastContainedLogTimestamp", "LastFetchTimestamp", "LastTimestamp", "LogAppendTimeMs", "MaxTimestamp",
	"MaxTimestampMs", "Timestamp", "TransactionLastUpdateTimestampMs", "TransactionStartTimeMs",
	"TransactionStartTimestampMs", "WriteTimestamp")

// roles assigns roles to fields by the keys of lookup; role adds what types and entity types tell.
var roles = map[string]Role{
	"ErrorCode":            RoleErrorCode,
	"PartitionErrorCode":   RoleErrorCode,
	"AcknowledgeErrorCode": RoleErrorCode,

	"ErrorMessage":            RoleErrorMessage,
	"AcknowledgeErrorMessage": RoleErrorMessage,

	"TopicName":  RoleTopicName,
	"Topic":      RoleTopicName,
	"topic":      RoleTopicName,
	"TopicNames": RoleTopicName,
	"TopicId":    RoleTopicID,
	"topicId":    RoleTopicID,

	"Partition":        RolePartition,
	"partition":        RolePartition,
	"Partitions":       RolePartition,
	"PartitionIndex":   RolePartition,
	"PartitionIndexes": RolePartition,
	"PartitionId":      RolePartition,
	"PartitionIds":     RolePartition,

	"ProduceRequest.Index":        RolePartition,
	"ProduceResponse.Index":       RolePartition,
	"FetchSnapshotResponse.Index": RolePartition,
	// The streams topologies count partitions under the same name.
	"StreamsGroupDescribeResponse.TopicInfo.Partitions": RoleNone,
	"StreamsGroupHeartbeatRequest.TopicInfo.Partitions": RoleNone,
	"StreamsGroupTopologyValue.TopicInfo.Partitions":    RoleNone,

	"GroupId":     RoleGroupID,
	"group":       RoleGroupID,
	"GroupIds":    RoleGroupID,
	"GroupsNames": RoleGroupID,

	"MemberId": RoleMemberID,
	"memberId": RoleMemberID,

	"GroupInstanceId": RoleGroupInstanceID,
	"groupInstanceId": RoleGroupInstanceID,
	"InstanceId":      RoleGroupInstanceID,
	"GenerationId":    RoleGenerationID,
	"generation":      RoleGenerationID,
	"MemberEpoch":     RoleMemberEpoch,
	"ProtocolType":    RoleProtocolType,
	"protocolType":    RoleProtocolType,

	"GenerationIdOrMemberEpoch": RoleGenerationID,

	"TransactionalId":  RoleTransactionalID,
	"TransactionalIds": RoleTransactionalID,
	"ProducerId":       RoleProducerID,
	"ProducerEpoch":    RoleProducerEpoch,

	"V3AndBelowTransactionalId": RoleTransactionalID,
	"V3AndBelowProducerId":      RoleProducerID,
	"V3AndBelowProducerEpoch":   RoleProducerEpoch,

	"BrokerId":     RoleBrokerID,
	"ControllerId": RoleControllerID,
	"NodeId":       RoleNodeID,
	"ReplicaId":    RoleReplicaID,
	"LeaderId":     RoleLeaderID,
	"LeaderEpoch":  RoleLeaderEpoch,
	"leaderEpoch":  RoleLeaderEpoch,
	"ClusterId":    RoleClusterID,
	"Host":         RoleHost,
	"Port":         RolePort,

	"FetchOffset":     RoleOffset,
	"BaseOffset":      RoleOffset,
	"CommittedOffset": RoleOffset,
	"Offset":          RoleOffset,
	"offset":          RoleOffset,
	"StartOffset":     RoleOffset,
	"HighWatermark":   RoleHighWatermark,
	"LogStartOffset":  RoleLogStartOffset,

	"LastStableOffset":           RoleLastStableOffset,
	"FetchRequest.HighWatermark": RoleNone, // what the replica knows, not what the leader says

	"Acks":           RoleAcks,
	"ThrottleTimeMs": RoleThrottle,
	"IsolationLevel": RoleIsolationLevel,
	"Records":        RoleRecords,

	"UnalignedRecords":      RoleRecords,
	"ListOffsets.Timestamp": RoleTimestamp,

	"ClientSoftwareName":             RoleClientSoftwareName,
	"ClientSoftwareVersion":          RoleClientSoftwareVersion,
	"SaslHandshakeRequest.Mechanism": RoleMechanism,
	"AuthBytes":                      RoleAuthBytes,

	"FindCoordinator.Key": RoleCoordinatorKey,
	"CoordinatorKeys":     RoleCoordinatorKey,

	"ResourceName":      RoleResourceName,
	"ResourceType":      RoleResourceType,
	"SessionId":         RoleSessionID,
	"SessionEpoch":      RoleSessionEpoch,
	"ShareSessionEpoch": RoleSessionEpoch,

	"Principal":                 RolePrincipal,
	"DefaultPrincipalData.Name": RolePrincipal,

	"RequestApiKey":              RoleAPIKey,
	"RequestApiVersion":          RoleAPIVersion,
	"ApiVersionsResponse.ApiKey": RoleAPIKey,
	"CorrelationId":              RoleCorrelationID,
	"RequestHeader.ClientId":     RoleClientID,

	"JoinGroupRequest.JoinGroupRequestProtocol.Name":        RoleProtocolName,
	"ConsumerGroupMemberMetadataValue.ClassicProtocol.Name": RoleProtocolName,
	"ProtocolName":                              RoleProtocolName,
	"ProtocolData":                              RoleProtocolName,
	"GroupMetadataValue.protocol":               RoleProtocolName,
	"JoinGroup.Metadata":                        RoleMemberMetadata,
	"ConsumerGroupMemberMetadataValue.Metadata": RoleMemberMetadata,
	"MemberMetadata":                            RoleMemberMetadata,
	"GroupMetadataValue.subscription":           RoleMemberMetadata,
	"SyncGroup.Assignment":                      RoleMemberAssignment,
	"MemberAssignment":                          RoleMemberAssignment,
	"GroupMetadataValue.assignment":             RoleMemberAssignment,
	"UserData":                                  RoleUserData,
	"RequestData":                               RoleRequestData,
	"ResponseData":                              RoleResponseData,
	"RequestPrincipal":                          RolePrincipalData,
	"Metrics":                                   RoleMetrics,
	"PushTelemetryRequest.CompressionType":      RoleCompression,
	"AlterConfigsRequest.AlterableConfig.Name":  RoleConfigName,
	"AlterConfigsRequest.AlterableConfig.Value": RoleConfigValue,
	"IncrementalAlterConfigsRequest.AlterableConfig.Name":         RoleConfigName,
	"IncrementalAlterConfigsRequest.AlterableConfig.Value":        RoleConfigValue,
	"CreateTopicsRequest.CreatableTopicConfig.Name":               RoleConfigName,
	"CreateTopicsRequest.CreatableTopicConfig.Value":              RoleConfigValue,
	"CreateTopicsResponse.CreatableTopicConfigs.Name":             RoleConfigName,
	"CreateTopicsResponse.CreatableTopicConfigs.Value":            RoleConfigValue,
	"DescribeConfigsResponse.DescribeConfigsResourceResult.Name":  RoleConfigName,
	"DescribeConfigsResponse.DescribeConfigsResourceResult.Value": RoleConfigValue,
	"DescribeConfigsResponse.DescribeConfigsSynonym.Name":         RoleConfigName,
	"DescribeConfigsResponse.DescribeConfigsSynonym.Value":        RoleConfigValue,
	"ConfigRecord.Name":  RoleConfigName,
	"ConfigRecord.Value": RoleConfigValue,

	"FetchSnapshotResponse.Position": RolePosition,
}

// entityRoles gives fields the role of Kafka's entity type where the table has none.
var entityRoles = map[string]Role{
	"topicName":       RoleTopicName,
	"groupId":         RoleGroupID,
	"transactionalId": RoleTransactionalID,
	"producerId":      RoleProducerID,
	// Of definitions that are not Kafka's.
	"memberAssignment": RoleMemberAssignment,
}

// roleOps are the wire forms in which a role makes sense, where a name alone could mislead.
var roleOps = map[Role][]Op{
	RoleErrorCode:    {OpInt16},
	RoleErrorMessage: {OpString},
	RoleConfigName:   {OpString},
	RoleConfigValue:  {OpString},
	RoleTopicName:    {OpString},
	RoleTopicID:      {OpUUID},
	RolePartition:    {OpInt32},
	RoleGroupID:      {OpString},
	RoleOffset:       {OpInt64},
	RoleRecords:      {OpRecords},
	RolePort:         {OpInt32, OpUint16},

	RoleMemberMetadata:   {OpBytes},
	RoleMemberAssignment: {OpBytes},
	RoleUserData:         {OpBytes},
	RoleMetrics:          {OpBytes},
}

func role(m *Message, structName string, f *FieldDef, op Op) Role {
	r, ok := lookup(roles, m, structName, f.Name)
	if !ok {
		r = entityRoles[f.EntityType]
	}
	if allowed := roleOps[r]; allowed != nil {
		for _, o := range allowed {
			if o == op {
				return r
			}
		}
		return RoleNone
	}
	return r
}

func set(words ...string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}
