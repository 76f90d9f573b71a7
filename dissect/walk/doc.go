// Package walk takes a schema.Plan over bytes. Decoding turns them into tree events; with no
// sink, or below a group that the sink skips, it only checks that the layout fits.
//
// After an error the walker ends every open group and covers what it could not decode with one
// leaf, so that the events always tile the captured bytes. Regions with a length of their own
// (tagged fields, record sets, the frame) contain errors: decoding goes on behind them.
//
// Encoding takes the JSON form of a body the other way, in the encoding that Kafka's own
// classes write.
package walk
