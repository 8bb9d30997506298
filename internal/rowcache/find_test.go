package rowcache

import (
	"os"
	"path/filepath"
	"testing"

	"covey/internal/dataset"
	"covey/test/rows"
)

// Find gives an owner the rows that were made for it, of what it asks for: not another owner's, and
// not those of a file whose name alone says so.
func TestFindIsTheOwners(t *testing.T) {
	c, s := rows.Open(t, Open), dataset.Source{Path: write(t, "a,b\n1,2\n")}
	q := one("a")
	other := one("b")
	made := rows.Load(t, c.Load, s, q, "one")
	any := func([32]byte) bool { return true }
	found := c.Find(s, q, "one", any)
	if found == nil || found.Rows.Rows != 1 {
		t.Fatal("the owner's rows are not found")
	}
	if err := found.Close(); err != nil {
		t.Fatal(err)
	}
	if c.Find(s, q, "one", func([32]byte) bool { return false }) != nil {
		t.Error("rows that are not accepted")
	}
	if c.Find(s, q, "two", any) != nil {
		t.Error("another owner's rows")
	}
	if c.Find(s, other, "one", any) != nil {
		t.Error("rows of another request")
	}
	name := cached{short(s.Recipe(other)), short(made.SHA256), "one"}.String()
	if err := os.Link(made.path, filepath.Join(c.dir, name)); err != nil {
		t.Fatal(err)
	}
	if c.Find(s, other, "one", any) != nil {
		t.Error("rows of another request under the name of this one")
	}
}
