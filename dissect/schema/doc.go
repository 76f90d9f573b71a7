// Package schema knows Kafka's messages: which fields a request, a response or a record of an
// internal topic has in each version, and what they mean.
//
// Definitions come from the embedded catalogue (folder catalog, in a notation of its own that
// notation_write.go describes) or are read from Kafka's JSON, in a file, a folder or a jar. A
// Catalogue compiles a definition at a version into a Plan when it is first asked for. Plans
// are shared and never change.
//
// ReadDraft takes definitions as pages of proposals have them: it repairs what the text bears out,
// tells each repair and each fault with its place, and holds definitions to the rules of Kafka's
// generator. Layer puts definitions of a user's own over a catalogue. DiffMessages, DiffVersions
// and DiffSets say what is different.
//
// The catalogue is the union of several releases of Kafka, made by Import: for each version
// the newest release that has it decides.
package schema
