// Package corrupt attacks a coordinator from its sites' port: corrupt sites beside honest
// agents (docs/protocol.md), and floods from hosts with and without a site's certificate.
package corrupt

import (
	"fmt"
	"os"
	"testing"

	"covey/test/site"
)

// A test of floods starts this binary again as a coordinator and as an attacker, so that what is
// measured of the coordinator concerns its process alone.
const (
	roleVariable    = "COVEY_CORRUPT_ROLE"
	roleCoordinator = "coordinator"
	roleAttacker    = "attacker"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVariable) {
	case "":
		site.InMemory()
		os.Exit(m.Run())
	case roleCoordinator:
		err = coordinate(os.Args[1])
	case roleAttacker:
		err = attack(os.Args[1], os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
