package node

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/strict"
)

// Config is coordinator.toml. An unknown key is an error.
type Config struct {
	// Listen is the address of the sites' port.
	Listen string `toml:"listen" comment:"Where agents connect: one TCP port, TLS 1.3."`
	// Addresses go into join files: host:port as agents reach it.
	Addresses []string `toml:"addresses" comment:"What join files tell agents: host:port as they see it. The hosts are in the server's certificate."`
	// Name of this coordinator among others, forever.
	Name string `toml:"name" comment:"This coordinator's name among the others. It must stay."`
	// PeerListen is the address of the coordinators' port.
	PeerListen string `toml:"peer_listen,omitempty" comment:"Where other coordinators connect. Without it this one is alone."`
	// PeerAddress is how other coordinators reach it.
	PeerAddress string `toml:"peer_address,omitempty" comment:"host:port of that port as the others see it."`
	// Peers are where a new coordinator finds the others.
	Peers []string `toml:"peers,omitempty" comment:"The others' peer addresses when this one joined; later ones are in the log."`
	// QuantumSafeLinks refuses links whose key exchange is not quantum-safe.
	QuantumSafeLinks bool `toml:"quantum_safe_links,omitempty" comment:"Refuse sites, analysts and coordinators whose TLS key exchange is not quantum-safe (X25519MLKEM768)."`
	// Dashboard is the page for people who watch.
	Dashboard Dashboard `toml:"dashboard,omitempty" comment:"A read-only page and /metrics; off without listen."`
	// Notify is whom this coordinator tells that it needs somebody.
	Notify []notify.Target `toml:"notify,omitempty" comment:"Whom to tell of studies: a webhook with its key_file, or a command."`
}

// Files of a data folder, beside internal/pki's.
const (
	ConfigFile = "coordinator.toml"
	SocketFile = "operator.sock"
)

// defaultName is a coordinator's if it is given none.
const defaultName = "1"

// ConfigError is a configuration that cannot be.
type ConfigError struct {
	Reason string
	key    string // that is at fault, if it is one
}

func (e *ConfigError) Error() string { return e.Reason }

func bad(format string, args ...any) error { return badKey("", format, args...) }

func badKey(key, format string, args ...any) error {
	return &ConfigError{fmt.Sprintf(format, args...), key}
}

// hosts are those of the addresses: the server certificate's.
func (c Config) hosts() ([]string, error) {
	var out []string
	for _, a := range c.Addresses {
		host, port, err := net.SplitHostPort(a)
		if err != nil || !isPort(port) {
			return nil, badKey("addresses", "address %q: must be host:port", a)
		}
		out = append(out, host)
	}
	return out, nil
}

// isPort reports whether a port is one, by number or by the system's name for it.
func isPort(port string) bool {
	_, err := net.LookupPort("tcp", port)
	return err == nil
}

func (c Config) check() error {
	if len(c.Addresses) == 0 {
		return badKey("addresses", "addresses: at least one is needed, host:port as the sites see it")
	}
	if _, err := c.hosts(); err != nil {
		return err
	}
	if err := pki.ValidName(c.Name); err != nil {
		return err
	}
	if (c.PeerListen == "") != (c.PeerAddress == "") {
		return bad("peer_listen and peer_address go together")
	}
	for what, address := range map[string]string{"listen": c.Listen, "peer_listen": c.PeerListen, "peer_address": c.PeerAddress} {
		if address == "" && what != "listen" {
			continue
		}
		if _, port, err := net.SplitHostPort(address); err != nil || !isPort(port) {
			return badKey(what, "%s %q: must be host:port, such as :7443", what, address)
		}
	}
	if bad, ok := errors.AsType[*notify.TargetError](notify.Check(c.Notify)); ok {
		return badKey(bad.Key, "%v", bad)
	}
	return c.Dashboard.check()
}

// Init makes a data folder with a CA of its own. A crash half-way leaves a folder
// that Init refuses and that holds nothing yet worth keeping. Errors:
// *ConfigError, *pki.NameError, *pki.HostError, *pki.ExistsError.
func Init(dir string, c Config, now time.Time) error {
	return c.init(dir, func(hosts []string) error { return pki.Init(dir, hosts, now) })
}

// InitOwn is Init under a CA that an organization brings, its certificate and its key in PEM files
// (pki.InitOwn). *pki.FileError says what is wrong with them.
func InitOwn(dir string, c Config, certFile, keyFile string, now time.Time) error {
	return c.init(dir, func(hosts []string) error { return pki.InitOwn(dir, certFile, keyFile, hosts, now) })
}

func (c Config) init(dir string, makeKeys func(hosts []string) error) error {
	if c.Name == "" {
		c.Name = defaultName
	}
	if err := c.check(); err != nil {
		return err
	}
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	if err := makeKeys(hosts); err != nil { // it makes dir, once everything is checked
		return err
	}
	return c.write(dir)
}

func (c Config) write(dir string) error {
	text, err := toml.Marshal(c)
	if err != nil {
		return err
	}
	return pki.ReplaceFile(filepath.Join(dir, ConfigFile), text, 0o600) // whole, or not at all
}

// ReadConfig reads a data folder's. The error is a *ConfigError or an I/O error.
func ReadConfig(dir string) (Config, error) {
	file := filepath.Join(dir, ConfigFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if _, keys := os.Stat(filepath.Join(dir, "ca.key")); keys == nil {
			return Config{}, bad("%s: it has keys and no %s: restore the whole data folder from a backup; if `coordinator init` failed there, empty it and try again", dir, ConfigFile)
		}
		return Config{}, bad("%s: not a coordinator data folder: it has no %s; make one with `coordinator init`", dir, ConfigFile)
	}
	if err != nil {
		return Config{}, err
	}
	var c Config
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	if err := strict.Decode(text, &c); err != nil {
		return Config{}, bad("%s: %v", file, err)
	}
	if c.Name == "" {
		c.Name = defaultName // a folder made before coordinators had names
	}
	if err := c.check(); err != nil {
		key := "name" // a *pki.NameError
		if bad, ok := errors.AsType[*ConfigError](err); ok {
			key = bad.key
		}
		return Config{}, bad("%s: %s%v", file, strict.At(strict.Line(text, key)), err)
	}
	return c, nil
}
