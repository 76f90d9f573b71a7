// Package dissect turns the TCP connections of a capture into Kafka exchanges.
//
// A Dissector is a reassembly.Handler. It finds out which connections speak Kafka and which side
// is the broker, cuts both directions into frames, pairs requests with responses by correlation
// id, and hands each exchange to its Handler at the packet that completes it, or at the event
// that closes it. Bodies are not decoded but where that is needed to go on: Frame.Walk does.
//
// What one connection shows of others, topic names and the ports that brokers listen on, is kept
// in Facts. All other state belongs to one connection.
package dissect
