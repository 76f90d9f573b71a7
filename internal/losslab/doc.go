// Package losslab damages captures and measures what is still shown of them.
//
// A Lab holds a whole capture, what the pipeline shows of it, and the log of the broker that
// received it. A Kind damages the packets, by a seed, as networks and capturing do. Trial runs
// the pipeline over what is left: each exchange that is shown as whole must be in the whole
// capture with the very same bytes and JSON, which in turn equals the broker's log.
package losslab
