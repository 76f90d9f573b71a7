package scrub

import "github.com/kdissect/kdissect/dissect/schema"

// class says what a field's value is, and with that when it is replaced.
type class uint8

const (
	unlisted  class = iota
	kept            // names of Kafka's own: states, types, mechanisms, software, features
	data            // replaced whole: record data, application data, free text
	user            // a user or principal
	config          // value of a configuration; kept where it is a number or a word of Kafka's
	client          // chosen by or for a client: client ids, members, instances
	topic           // topics, and what names parts of a topology
	group           // groups, transactional ids, connectors
	host            // hosts, racks, listeners, clusters, paths
	resource        // a topic, group or client, whose kind another field tells
	address         // bytes of an IP address
	topicUUID       // topic ids
)

// classes are those of the catalogue's strings, bytes and ids, and of the payloads', by
// "Struct.Field" or "Field"; the body of a message counts as a struct of the message's name.
// Ids that are listed nowhere are kept, strings and bytes replaced.
var classes = map[string]class{
	// Around record sets.
	"Record.key": data, "Record.value": data, "Header.headerKey": data, "Header.headerValue": data,
	"Message.key": data, "Message.value": data,

	"client_id": client, "ClientId": client, "clientId": client,
	"MemberId": client, "memberId": client, "Leader": client, "leader": client,
	"GroupInstanceId": client, "groupInstanceId": client, "InstanceId": client,
	"ProcessId": client, "EntityName": data, "Match": data,

	"TopicName": topic, "TopicNames": topic, "Topic": topic, "topic": topic, "Topics": topic,
	"SubscribedTopicNames": topic, "SubscribedTopicRegex": topic, "RegularExpression": topic,
	"SourceTopics": topic, "SourceTopicRegex": topic, "SinkTopic": topic, "RepartitionSinkTopics": topic,
	"SubtopologyId": topic, "Stores": topic, "Successors": topic, "namedTopology": topic,
	"TopologyDescriptionNode.Name": topic, "TopicInfo.Name": topic, "TopicIdPartitionEntry.Name": topic,
	"TopicId": topicUUID, "topicId": topicUUID, "TopicIdPartitionEntry.Id": topicUUID,

	"GroupId": group, "GroupIds": group, "Groups": group, "GroupsNames": group, "group": group,
	"TransactionalId": group, "TransactionalIds": group, "TransactionalIdPattern": group,
	"V3AndBelowTransactionalId": group, "FindCoordinatorRequest.Key": group, "Coordinator.Key": group,
	"CoordinatorKeys": group, "Connector": group,

	"Host": host, "host": host, "HostName": host, "V0Host": host, "HostFilter": host,
	"ClientHost": host, "clientHost": host, "userEndPoint": host, "Url": host, "LeaderUrl": host,
	"Rack": host, "RackId": host, "Racks": host, "ClusterId": host, "LogDir": host, "Path": host,
	"Listener.Name": host, "LeaderEndpoint.Name": host, "BrokerEndpoint.Name": host,
	"ControllerEndpoint.Name": host, "UpdateMetadataEndpoint.Listener": host, "Endpoint.Name": host,
	"ClientHostAddress": address,

	"ResourceName": resource, "ResourceNameFilter": resource,

	"User": user, "UserName.Name": user, "ScramCredentialDeletion.Name": user,
	"ScramCredentialUpsertion.Name": user, "UserScramCredentialRecord.Name": user,
	"RemoveUserScramCredentialRecord.Name": user, "Principal": user, "PrincipalFilter": user,
	"PrincipalName": user, "OwnerPrincipalName": user, "TokenRequesterPrincipalName": user,
	"DefaultPrincipalData.Name": user, "Owner": user, "Requester": user, "Renewers": user, "TokenId": user,

	"AlterableConfig.Value": config, "CreatableTopicConfig.Value": config, "CreatableTopicConfigs.Value": config,
	"DescribeConfigsResourceResult.Value": config, "DescribeConfigsSynonym.Value": config,
	"ConfigRecord.Value": config, "LastAssignmentConfig.Value": config, "TopicConfig.value": config,
	"KeyValue.Value": config, // of Streams: topic configurations, and a client's tags

	"ErrorMessage": data, "BatchIndexErrorMessage": data, "AcknowledgeErrorMessage": data,
	"Reason": data, "StatusDetail": data, "CommittedMetadata": data, "Metadata": data, "metadata": data,
	"MetadataBytes": data, "CustomMetadata": data, "UserData": data, "ClientTag.key": data, "ClientTag.value": data,
	"Assignment": data, "assignment": data, "MemberAssignment": data, "MemberMetadata": data,
	"subscription": data, "Allocation": data, "Metrics": data, "RequestData": data, "ResponseData": data,
	"RequestPrincipal": data,

	// Secret wherever they stand; listed so that the list is whole.
	"AuthBytes": data, "Hmac": data, "Salt": data, "SaltedPassword": data, "StoredKey": data, "ServerKey": data,

	"AlterableConfig.Name": kept, "CreatableTopicConfig.Name": kept, "CreatableTopicConfigs.Name": kept,
	"DescribeConfigsResourceResult.Name": kept, "DescribeConfigsSynonym.Name": kept, "ConfigRecord.Name": kept,
	"LastAssignmentConfig.Key": kept, "TopicConfig.key": kept, "KeyValue.Key": kept,
	"OpData.Key": kept, "ValueData.Key": kept, "ClientQuotaRecord.Key": kept, "ConfigurationKeys": kept,
	"Documentation": kept, "EntityType": kept, "PrincipalType": kept, "OwnerPrincipalType": kept,
	"TokenRequesterPrincipalType": kept, "DefaultPrincipalData.Type": kept,
	"Feature": kept, "Feature.Name": kept, "FinalizedFeatureKey.Name": kept, "SupportedFeatureKey.Name": kept,
	"BrokerFeature.Name": kept, "ControllerFeature.Name": kept, "FeatureLevelRecord.Name": kept,
	"BeginTransactionRecord.Name": kept,
	"ClientSoftwareName":          kept, "ClientSoftwareVersion": kept, "Mechanism": kept, "Mechanisms": kept,
	"AssignorName": kept, "Assignor.Name": kept, "ServerAssignor": kept, "ProtocolName": kept, "ProtocolType": kept, "ProtocolData": kept,
	"protocol": kept, "protocolType": kept, "JoinGroupRequestProtocol.Name": kept, "ClassicProtocol.Name": kept,
	"GroupState": kept, "GroupType": kept, "StatesFilter": kept, "StateFilters": kept, "TypesFilter": kept,
	"UnknownStateFilters": kept, "TransactionState": kept, "RequestedMetrics": kept,

	// OpenTelemetry.
	"Metric.name": kept, "Metric.description": kept, "Metric.unit": kept, "InstrumentationScope.name": kept,
	"InstrumentationScope.version": kept, "schemaUrl": kept, "KeyValue.key": kept,
	"AnyValue.stringValue": data, "AnyValue.bytesValue": data, "spanId": kept, "traceId": kept,
}

// classOf returns the class of a field. Where it is not listed, its role tells.
func classOf(structName, field string, role schema.Role) class {
	if c, ok := classes[structName+"."+field]; ok {
		return c
	}
	if c, ok := classes[field]; ok {
		return c
	}
	return byRole[role]
}

// internalTopics are Kafka's own, whose names everybody knows, and by which their records are read.
var internalTopics = map[string]bool{
	"__consumer_offsets": true, "__transaction_state": true, "__share_group_state": true,
	"__cluster_metadata": true, "__remote_log_metadata": true,
}

// configWords are values of configurations that tell nothing about who set them.
var configWords = map[string]bool{
	"": true, "true": true, "false": true, "none": true, "all": true, "compact": true, "delete": true,
	"compact,delete": true, "delete,compact": true, "producer": true, "uncompressed": true, "gzip": true,
	"snappy": true, "lz4": true, "zstd": true, "CreateTime": true, "LogAppendTime": true,
	"earliest": true, "latest": true, "read_committed": true, "read_uncommitted": true,
}
