package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/pki"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
	"covey/test/site"
)

// FuzzDecodeAgain: a message that is read, and its message written again in protobuf's one form,
// are one request.
func FuzzDecodeAgain(f *testing.F) {
	for _, r := range requests() {
		raw, err := proto.Marshal(r.wire)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(append(raw, 0xf8, 0x07, 1)) // a field of a later version
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decode(raw)
		if err != nil {
			return
		}
		var m covey.CoordinatorMessage
		if err := proto.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		written, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(written)
		// a NaN is not itself
		if err != nil || !reflect.DeepEqual(again, r) && !bytes.Contains(raw, []byte{0xf0}) && !bytes.Contains(raw, []byte{0xf8}) {
			t.Fatalf("%+v is read again as %+v (%v)", r, again, err)
		}
	})
}

// FuzzStoredForms: what the ledger's items hold is read as it was written, or not at all.
func FuzzStoredForms(f *testing.F) {
	f.Add(encodeSecrets(secagg.Secrets{Slots: make([]secagg.SlotSecret, 2)}))
	f.Add(encodeFinal(final{Encoded: []byte("{}"), Signature: make([]byte, 64)}))
	f.Add(secagg.Survivors{0, 2, 5}.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := decodeSecrets(raw); err == nil && !bytes.Equal(encodeSecrets(s), raw) {
			t.Fatal("other secrets")
		}
		if v, err := decodeFinal(raw); err == nil && !bytes.Equal(encodeFinal(v), raw) {
			t.Fatal("another result")
		}
		if u, err := decodeSurvivors(raw); err == nil && !bytes.Equal(secagg.Survivors(u).Bytes(), raw) {
			t.Fatalf("%x is read as %v", raw, u)
		}
	})
}

// FuzzVouchers: CAs that a coordinator says are in force are trusted only on the word of one that
// is, so never of the fuzzer's.
func FuzzVouchers(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "alpha")
	a := site.Authority(f, filepath.Join(f.TempDir(), "coordinator"), testNow)
	s := site.Issue(f, dir, "alpha", a, testNow)
	certificate, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.CertificatePEM(), []byte{})
	f.Add(certificate, a.CertificatePEM())
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), certificate)
	f.Fuzz(func(t *testing.T, ca, endorsement []byte) {
		changed, _ := s.Trust([]pki.Voucher{{Certificate: a.CertificatePEM()}, {Certificate: ca, Endorsement: endorsement}}, testNow.Add(time.Hour))
		if changed || len(s.Authorities()) != 1 {
			t.Fatalf("it trusts %d CAs", len(s.Authorities()))
		}
	})
}
