package schema

import (
	"math"
	"strconv"
)

// Enumerations of the protocol: words for the values of fields that Kafka's definitions give
// as plain integers.
var (
	aclOperations = wordsFrom(0, "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE",
		"CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS",
		"DESCRIBE_TOKENS", "TWO_PHASE_COMMIT")
	aclPermissions   = wordsFrom(0, "UNKNOWN", "ANY", "DENY", "ALLOW")
	aclResourceTypes = wordsFrom(0, "UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
	aclPatternTypes  = wordsFrom(0, "UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")

	// ConfigResource.Type: powers of two.
	configResourceTypes = newNames(map[int64]string{
		0: "UNKNOWN", 2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP",
	})
	configSources = wordsFrom(0, "UNKNOWN", "TOPIC_CONFIG", "DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG",
		"STATIC_BROKER_CONFIG", "DEFAULT_CONFIG", "DYNAMIC_BROKER_LOGGER_CONFIG", "CLIENT_METRICS_CONFIG", "GROUP_CONFIG")
	configTypes = wordsFrom(0, "UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD")
	configOps   = wordsFrom(0, "SET", "DELETE", "APPEND", "SUBTRACT")

	isolationLevels   = wordsFrom(0, "READ_UNCOMMITTED", "READ_COMMITTED")
	electionTypes     = wordsFrom(0, "PREFERRED", "UNCLEAN")
	coordinatorTypes  = wordsFrom(0, "GROUP", "TRANSACTION", "SHARE")
	memberTypes       = wordsFrom(-1, "UNKNOWN", "CLASSIC", "CONSUMER")
	quotaMatches      = wordsFrom(0, "EXACT", "DEFAULT", "SPECIFIED")
	scramMechanisms   = wordsFrom(0, "UNKNOWN", "SCRAM-SHA-256", "SCRAM-SHA-512")
	upgradeTypes      = wordsFrom(0, "UNKNOWN", "UPGRADE", "SAFE_DOWNGRADE", "UNSAFE_DOWNGRADE")
	endpointTypes     = wordsFrom(0, "UNKNOWN", "BROKER", "CONTROLLER")
	securityProtocols = wordsFrom(0, "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
	codecs            = wordsFrom(0, "none", "gzip", "snappy", "lz4", "zstd")

	// Acknowledgements of shared records (KIP-932); 0 stands for an offset that has no record.
	acknowledgeTypes  = wordsFrom(0, "GAP", "ACCEPT", "RELEASE", "REJECT", "RENEW")
	deliveryStates    = newNames(map[int64]string{0: "AVAILABLE", 1: "ACQUIRED", 2: "ACKNOWLEDGED", 4: "ARCHIVED"})
	shareAcquireModes = wordsFrom(0, "BATCH_OPTIMIZED", "RECORD_LIMIT")

	// Special targets of ListOffsets.
	offsetTargets = wordsFrom(-6, "EARLIEST_PENDING_UPLOAD", "LATEST_TIERED", "EARLIEST_LOCAL", "MAX_TIMESTAMP", "EARLIEST", "LATEST")

	requestSources  = wordsFrom(0, "UNKNOWN", "INCREMENTAL", "FULL")
	recoveryStates  = wordsFrom(0, "RECOVERED", "RECOVERING")
	recoveryChanges = wordsFrom(-1, "NO_CHANGE", "RECOVERED", "RECOVERING")
	fencingChanges  = wordsFrom(-1, "UNFENCE", "NO_CHANGE", "FENCE")
	shutdownChanges = wordsFrom(0, "NO_CHANGE", "IN_CONTROLLED_SHUTDOWN")
	migrationStates = wordsFrom(0, "NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION", "ZK")

	transactionStates = wordsFrom(0, "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit",
		"CompleteAbort", "Dead", "PrepareEpochFence")
	consumerMemberStates = newNames(map[int64]string{
		0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS", 127: "UNKNOWN",
	})
	streamsMemberStates = newNames(map[int64]string{
		1: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS", 127: "UNKNOWN",
	})
	streamsStatuses = wordsFrom(0, "STALE_TOPOLOGY", "MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS",
		"MISSING_INTERNAL_TOPICS", "SHUTDOWN_APPLICATION", "ASSIGNMENT_DELAYED", "MISSING_CLIENT_TAGS")
	topologyNodeTypes    = wordsFrom(1, "SOURCE", "PROCESSOR", "SINK")
	topologyDescriptions = wordsFrom(0, "NOT_REQUESTED", "NOT_STORED", "ERROR", "AVAILABLE")
	segmentStates        = wordsFrom(0, "COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED")
	deleteStates         = wordsFrom(0, "DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")
	controlTypes         = wordsFrom(-1, "UNKNOWN", "ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER",
		"KRAFT_VERSION", "KRAFT_VOTERS")
)

// authorizedOperations names the bits of an authorized-operations field (KIP-430).
type authorizedOperations struct{}

// operationsOmitted is the value of a field that was not asked for.
const operationsOmitted = math.MinInt32

// Name returns the words for the bits set in v, such as "READ, DESCRIBE".
func (authorizedOperations) Name(v int64) string {
	if v == operationsOmitted {
		return "not asked for"
	}
	var b []byte
	for bit := int64(0); bit < 32; bit++ {
		if v>>bit&1 == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		if word := aclOperations.Name(bit); word != "" {
			b = append(b, word...)
		} else {
			b = append(b, "bit "...)
			b = strconv.AppendInt(b, bit, 10)
		}
	}
	return string(b)
}
