package study

import (
	"crypto/ed25519"
	"strings"
	"testing"
)

// TestUnsignedReleaseIsNotParsed: a long text without the key's signature costs what the
// signature's check does.
func TestUnsignedReleaseIsNotParsed(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := []byte(`{"survivors":[0` + strings.Repeat(",0", 1<<14) + `]}`)
	if r := ParseSigned(long, ed25519.Sign(private, SigningInput(long)), public); r == nil || len(r.Survivors) != 1<<14+1 {
		t.Fatal("a signed one is not read")
	}
	none := make([]byte, ed25519.SignatureSize)
	took := testing.AllocsPerRun(10, func() { ParseSigned(long, none, public) })
	if most := testing.AllocsPerRun(10, func() { ParseSigned(long[:1], none, public) }); took > most {
		t.Errorf("%v allocations for a long one, %v for a short one", took, most)
	}
}
