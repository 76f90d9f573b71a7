// Package layout makes byte-layout documents: what a request or response of any API at any
// version looks like on the wire, byte by byte, as text, Markdown, HTML or JSON, for one
// version or as a site of all.
//
// The bytes of a page are a sample that the encoder makes and the decoder takes apart again, or
// a captured frame. The smallest legal sample follows one rule, so that pages of different
// versions can be compared; RuleOf says it in words.
package layout
