// Package payload decodes what is nested in the bytes of requests, responses and records: the
// records of Kafka's internal topics, the protocols of consumer, Streams and Connect groups,
// forwarded requests, and clients' metrics.
//
// A Decoder is told by a walk.Decoder which fields stand in front of bytes (the topic, the
// group's protocol) and gives the events of their inside as a group of tree.KindPayload with
// the members name, version and body. Bytes that cannot be read as what they should be stay
// bytes, with an issue of severity info. What holds a secret is secret as a whole, too.
package payload
