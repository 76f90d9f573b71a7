// Package rules holds the tests that keep the project's structure: which package may import
// which, and where the process's own things (arguments, stdout, exit, clock) are used.
package rules
