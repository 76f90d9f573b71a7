// Package brokerlog reads what Kafka brokers write to kafka.request.logger at TRACE, and compares
// it with the JSON lines of this project. Tests hold captures against it: the log was written by
// the broker that received the very bytes of the capture.
//
// Since KIP-673 (Kafka 2.8) each line holds a JSON object; earlier brokers wrote text.
package brokerlog
