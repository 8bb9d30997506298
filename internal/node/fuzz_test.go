package node

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzConfig: a coordinator.toml is an error in words, or a configuration that is written as it
// reads.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("listen = \"0.0.0.0:7443\"\naddresses = [\"covey.example:7443\"]\nname = \"1\"\n"))
	f.Add([]byte("listen = \"[::]:7443\"\naddresses = [\"a:1\", \"[::1]:2\"]\nname = \"two\"\npeer_listen = \":7444\"\npeer_address = \"a:7444\"\npeers = [\"b:7444\"]\n" +
		"[dashboard]\nlisten = \"127.0.0.1:7480\"\n"))
	f.Add([]byte("listen = 1\n"))
	f.Add([]byte("[dashboard]\nhosts = [\"\\u0000\"]\n[dashboard]\n"))
	dir := f.TempDir()
	path := filepath.Join(dir, ConfigFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadConfig(dir)
		if err != nil {
			if _, ok := errors.AsType[*ConfigError](err); !ok || strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if err := c.write(dir); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadConfig(dir)
		if err != nil {
			t.Fatalf("%s\n%v", written, err)
		}
		if err := again.write(dir); err != nil {
			t.Fatal(err)
		}
		if twice, err := os.ReadFile(path); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s\nis written again as\n%s (%v)", written, twice, err)
		}
	})
}
