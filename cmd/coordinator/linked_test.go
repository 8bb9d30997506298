package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLinksNoReaders: the process that holds the CA's key and the one that signs results has no
// code that draws, or that reads tables, fonts or pictures: a fault of such code is none of its.
func TestLinksNoReaders(t *testing.T) {
	deps := func(pkg string) []string {
		t.Helper()
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	// refused are modules and packages, and all below them.
	refused := []string{
		"gonum.org/v1/plot", "golang.org/x/image", "codeberg.org/go-pdf", "codeberg.org/go-fonts", "codeberg.org/go-latex", "github.com/ajstarks/svgo", "git.sr.ht/~sbinet/gg",
		"github.com/sbinet/npyio", "github.com/parquet-go", "github.com/jackc", "github.com/go-sql-driver", "database/sql", "covey/internal/report", "covey/internal/dataset/mariadb", "covey/internal/dataset/parquet", "covey/internal/dataset/postgres",
	}
	links := func(list []string, module string) bool {
		for _, pkg := range list {
			// google/uuid names database/sql/driver's interfaces; nothing there opens or reads
			// anything.
			if (pkg == module || strings.HasPrefix(pkg, module+"/")) && pkg != "database/sql/driver" {
				return true
			}
		}
		return false
	}
	coordinator, others := deps("covey/cmd/coordinator"), append(deps("covey/cmd/agent"), deps("covey/cmd/analyst")...)
	for _, module := range refused {
		if links(coordinator, module) {
			t.Errorf("the coordinator links %s", module)
		}
		if module != "database/sql" && !links(others, module) && strings.HasPrefix(module, "covey/") {
			t.Errorf("neither agent nor analyst links %s: is it still called that?", module)
		}
	}
}
