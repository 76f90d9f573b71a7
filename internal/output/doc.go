// Package output writes exchanges for people and programs: as a summary line, as annotated
// trees and as the JSON line of the broker's request log (KIP-673). It also gathers the facts
// of an exchange that selections ask for.
//
// Each form has an Append method that writes one exchange behind a byte slice, so that workers
// can format on their own, and a writer that sends lines to an io.Writer. Neither
// allocates for an exchange in the steady state, save trees.
//
// Times are UTC.
package output
