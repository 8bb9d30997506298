package agent

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/doctor"
	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/test/lines"
	"covey/test/must"
	"covey/test/port"
)

const demand = "[policy]\nquantum_safe_links = true\n"

// demanding rewrites the policy of a site's agent.toml.
func demanding(t *testing.T, dir string) *siteconfig.Config {
	t.Helper()
	path := filepath.Join(dir, siteconfig.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "[policy]\n", demand, 1)
	if changed == string(text) {
		changed += demand
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keyExchangeOf returns what the checks of a coordinator's address say of the key exchange.
func keyExchangeOf(t *testing.T, found []doctor.Finding) doctor.Finding {
	t.Helper()
	i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Code == doctor.CheckKeyExchange })
	if i < 0 {
		t.Fatalf("%+v", found)
	}
	return found[i]
}

// TestQuantumSafeLink: an agent says of its link whether a later quantum computer could open it. It
// links where it could, until its policy demands more: then the link ends, and none like it is
// opened again, by the agent or by its checks.
func TestQuantumSafeLink(t *testing.T) {
	s := port.New(t, port.Classical)
	config, dir := joined(t, s)
	log := &lines.Log{}
	a, err := New(Options{Config: config, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	defer func() {
		cancel()
		<-ran
	}()
	(<-s.Links).Receive(t)
	status, err := a.Views.Status()
	if weak := (pki.KeyExchange{Group: "X25519"}); err != nil || !status.Linked || status.KeyExchange != weak {
		t.Fatalf("%+v, %v", status, err)
	}
	f := keyExchangeOf(t, doctor.Check(port.Bounded(t), config, time.Now()))
	if !f.OK || !f.Warning || f.Result != "not quantum-safe (X25519)" || !strings.Contains(f.Do, "tlsmlkem=0") {
		t.Errorf("%+v", f)
	}

	config = demanding(t, dir)
	if done, err := a.Settings.Reload(false); err != nil || !slices.Contains(done.Changed, "policy.quantum_safe_links") {
		t.Fatal(done, err)
	}
	log.Wait(t, "no link to the coordinator") // a link that is opened is opened without end
	select {
	case <-s.Links:
		t.Fatal("a link was opened")
	default:
	}
	status, err = a.Views.Status()
	if err != nil || status.Linked || status.KeyExchange != (pki.KeyExchange{}) || !strings.Contains(status.LinkError, "the link's key exchange is X25519, which a quantum computer breaks") {
		t.Errorf("%+v, %v", status, err)
	}
	found := doctor.Check(port.Bounded(t), config, time.Now())
	f = found[len(found)-1]
	must.As[*enroll.HandshakeError](t, f.Err)
	must.As[*pki.KeyExchangeError](t, f.Err)
	if f.Code != doctor.CheckKeyExchange || f.OK || !strings.Contains(f.Result, "X25519") || !strings.Contains(f.Do, "tlsmlkem=0") {
		t.Errorf("%+v", f)
	}
	select {
	case <-s.Links:
		t.Error("a link was opened")
	default:
	}
}

// TestQuantumSafeByDefault: what is linked as it comes keeps the strictest policy.
func TestQuantumSafeByDefault(t *testing.T) {
	s := port.New(t)
	_, dir := joined(t, s)
	config := demanding(t, dir)
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	(<-s.Links).Receive(t)
	status, err := a.Views.Status()
	cancel()
	<-ran
	if safe := (pki.KeyExchange{Group: "X25519MLKEM768", QuantumSafe: true}); err != nil || status.KeyExchange != safe {
		t.Errorf("%+v, %v", status, err)
	}
	if f := keyExchangeOf(t, doctor.Check(port.Bounded(t), config, time.Now())); !f.OK || f.Warning || f.Result != "quantum-safe (X25519MLKEM768)" || f.Do != "" {
		t.Errorf("%+v", f)
	}
}
