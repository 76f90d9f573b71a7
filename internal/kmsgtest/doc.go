// Package kmsgtest holds the layouts against an independent encoder and decoder of the protocol: kmsg of
// franz-go, which is generated from definitions of its own.
package kmsgtest
