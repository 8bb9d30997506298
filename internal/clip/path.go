package clip

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

//go:generate sh -c "go run -modfile=../../tools.mod ../../tools/kernels/*.go -out kernel_amd64.s -stubs kernel_asm_amd64.go -pkg clip"

// path is a set of kernels. All give the same integers to the bit, so changing it in the middle of
// a sum changes nothing but speed.
type path uint32

const (
	portable path = iota // Go
	avx2                 // amd64 with AVX2 and FMA
	// amd64 with AVX-512F and VL: avx2, and kernels of several directions of its own
	avx512
)

var pathNames = [...]string{portable: "portable", avx2: "avx2", avx512: "avx512"}

// active is the path in use.
var active atomic.Uint32

func init() { active.Store(uint32(slices.Max(supported()))) }

// PathError reports a path that is not known, or that this processor or system does not have.
type PathError struct {
	Name  string
	Known bool
}

func (e *PathError) Error() string {
	if e.Known {
		return "clip: this machine has no path " + e.Name
	}
	return fmt.Sprintf("clip: path %q must be one of %s", e.Name, strings.Join(pathNames[:], ", "))
}

// SetPath makes sums run on "portable", "avx2" or "avx512", for tests and comparisons: the integers
// are the same on all. Without a call, or with "", it is the fastest that the machine has. A path
// that is unknown or not there is a [*PathError], and changes nothing. It is for a program's start,
// with what its environment says (COVEY_CLIP), and safe at any time.
func SetPath(name string) error {
	if name == "" {
		active.Store(uint32(slices.Max(supported())))
		return nil
	}
	p := path(max(0, slices.Index(pathNames[:], name)))
	if pathNames[p] != name {
		return &PathError{Name: name}
	}
	if !slices.Contains(supported(), p) {
		return &PathError{Name: name, Known: true}
	}
	active.Store(uint32(p))
	return nil
}

// Path is the name of the path in use.
func Path() string { return pathNames[active.Load()] }
