// Command kdissect shows the Kafka protocol inside captured TCP traffic.
package main

import (
	"os"

	"github.com/kdissect/kdissect/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
