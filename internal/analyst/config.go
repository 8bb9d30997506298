package analyst

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"covey/internal/enroll"
	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/strict"
)

// File is the name of an analyst's configuration.
const File = "analyst.toml"

const (
	maxConfig    = 64 << 10
	maxAddresses = 16
)

// Config is an analyst.toml.
type Config struct {
	// Analyst is the name in the certificate.
	Analyst string `toml:"analyst"`
	// Coordinator lists the coordinators' addresses, host:port, to be tried in order.
	Coordinator []string `toml:"coordinator"`
	// Notify lists who is told of studies by the command notify; nobody if it is not given.
	Notify []notify.Target `toml:"notify,omitempty"`
}

// ConfigError is a configuration that cannot be: it names the file, the key and the bound.
type ConfigError = siteconfig.Error

// readConfig reads the configuration of a folder. The error is a [*ConfigError].
func readConfig(dir string) (Config, error) {
	path := filepath.Join(dir, File)
	f, err := os.Open(path)
	if err != nil {
		return Config{}, &ConfigError{File: path, Reason: siteconfig.Reason(err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return Config{}, &ConfigError{File: path, Reason: siteconfig.Reason(err)}
	}
	return parseConfig(text, path)
}

// parseConfig reads the text of a configuration, which stands in file. The error is a
// [*ConfigError].
func parseConfig(text []byte, file string) (c Config, err error) {
	wrong := func(key, format string, args ...any) (Config, error) {
		return Config{}, &ConfigError{File: file, Key: key, Reason: fmt.Sprintf(format, args...), Line: strict.Line(text, key)}
	}
	if len(text) > maxConfig {
		return Config{}, &ConfigError{File: file, Reason: fmt.Sprintf("is longer than %d bytes", maxConfig)}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	if err := strict.Decode(text, &c); err != nil {
		return Config{}, &ConfigError{File: file, Reason: err.Error()}
	}
	if pki.ValidName(c.Analyst) != nil {
		return wrong("analyst", "must be the name in the join file, got %.80q", c.Analyst)
	}
	if len(c.Coordinator) == 0 || len(c.Coordinator) > maxAddresses {
		return wrong("coordinator", "must be 1 to %d addresses, got %d", maxAddresses, len(c.Coordinator))
	}
	for i, address := range c.Coordinator {
		if err := siteconfig.CheckAddress(address); err != nil {
			return wrong(fmt.Sprintf("coordinator[%d]", i), "%v", err)
		}
	}
	if err := notify.Check(c.Notify); err != nil {
		if bad, ok := errors.AsType[*notify.TargetError](err); ok {
			return wrong(bad.Key, "%s", bad.Reason)
		}
		return wrong("notify", "%v", err)
	}
	return c, nil
}

// Newcomer returns an analyst who joins; again says that this one has joined before.
func Newcomer(again bool) enroll.Newcomer {
	return enroll.Newcomer{Role: pki.RoleAnalyst, File: File, Sample: sample, Again: again}
}

// sample returns the analyst.toml that a join leaves.
func sample(join pki.Join) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# The analyst's program reads this. An unknown key is an error.\n\nanalyst = %q\n\n", join.Analyst)
	out.WriteString("# Where the coordinators answer: host:port, tried in order. List all of them: no other is called.\ncoordinator = [")
	for i, address := range join.Coordinator {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%q", address)
	}
	out.WriteString("]\n")
	return out.Bytes(), nil
}
