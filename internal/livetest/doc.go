// Package livetest tests `kdissect live` on real interfaces: in a network namespace of its own,
// with a client and a broker that other people wrote. It needs root on Linux, and ip(8); its
// tests are skipped where these are missing. They are a module of their own, so that the
// project's stays lean.
package livetest
