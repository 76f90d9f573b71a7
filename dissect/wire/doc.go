// Package wire reads and writes the primitives of Kafka's protocol: big-endian integers,
// variable-length integers and counted bytes (https://kafka.apache.org/protocol#protocol_types).
package wire
