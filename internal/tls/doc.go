// Package tls decrypts captured TLS 1.2 and 1.3 connections with the secrets of a key log.
//
// A Decryptor is a reassembly.Handler in front of another one. Connections that are not TLS pass
// through as they are. Of a TLS connection the next handler is given the plaintext, in the shape
// of any other connection: chunks and gaps that tile the plaintext of each direction, whose
// offsets count bytes of application data. A chunk holds the content of one record, with number
// and time of the packet that completed the record. Records that cannot be decrypted are gaps with
// the reason reassembly.NotDecrypted.
//
// # Secrets
//
// Keys holds the secrets of a key log in the NSS format, and the lines that say
// "RSA Session-ID:.. Master-Key:..". What a TLS 1.2 connection has agreed on is remembered, so that
// one that resumes its session needs no line of its own. Secrets may come later than the
// handshake: a connection without them is held for a while, within Limits.
//
// # Losses
//
// A record that a gap lies in is lost; with it goes nothing else where the gap's length is known
// and the record's header was captured. Otherwise the next record is found by the look of its
// header, and proven by decrypting it with each sequence number that it can have.
package tls
