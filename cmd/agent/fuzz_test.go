package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/ledger"
)

// FuzzExport: what "ledger recover --from" is given is bad input in words, and no ledger is there;
// or there is one.
func FuzzExport(f *testing.F) {
	const id = "0100000000000000000000000000000000000000000000000000000000000000"
	f.Add([]byte(`{"populations":[{"name":"p","cap_rho":2,"spent_rho":1,"reserved_rho":0,"left_rho":1,"declared":true}],"studies":[{"digest":"` + id + `","name":"n","population":"p","state":"finished","rho":1,"spent_rho":1,"by":"operator","time":"2026-03-01T12:00:00Z"}]}`))
	f.Add([]byte(`{"populations":[],"studies":[]}`))
	f.Add([]byte(`{"populations":null,"studies":[{"digest":"01"}]}`))
	f.Add([]byte(`{"populations":[{"name":"p","spent_rho":1.7e308,"reserved_rho":1.7e308}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		root := t.TempDir()
		path, dir := filepath.Join(root, "export.json"), filepath.Join(root, "ledger")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := ledgerRecoverCmd{From: path, Yes: true}
		_, err := c.restore(&terminal{&shared.Terminal{Ctx: context.Background(), Out: io.Discard, Err: io.Discard}, root}, dir)
		if err != nil {
			if !shared.Is[*shared.InputError](err) && !shared.Is[*ledger.FieldError](err) || err.Error() == "" {
				t.Fatalf("%#v", err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "ledger.db")); !errors.Is(err, os.ErrNotExist) {
				t.Fatal("a ledger is there that was refused")
			}
			return
		}
		l, err := ledger.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Studies() {
			if s.State == ledger.Approved {
				t.Fatal("a study of an export can be gone on with")
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
