// Package schema knows Kafka's messages: which fields a request, a response or a record of an
// internal topic has in each version, and what they mean.
//
// Definitions come from the embedded catalogue (folder catalog, in a notation of its own that
// notation_write.go describes) or are read from Kafka's JSON, in a file, a folder or a jar. A
// Catalogue compiles a definition at a version into a Plan when it is first asked for. Plans
// are shared and never change.
//
// The catalogue is the union of several releases of Kafka, made by Import: for each version
// the newest release that has it decides.
package schema
