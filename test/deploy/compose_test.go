//go:build deploy && linux

package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"covey/test/fed"
)

const (
	folder  = "../../deploy/compose"
	project = "coveytest"
	image   = "covey:test"
)

var (
	nodes = []string{"one", "two", "three"}
	sites = []string{"fair", "good", "very-good", "premium", "ideal"}
)

// composition is the compose file's federation, run.
type composition struct {
	t *testing.T
	d *daemon
}

func (c *composition) compose(args ...string) (string, error) {
	args = append([]string{"-f", filepath.Join(folder, "docker-compose.yaml")}, args...)
	return c.d.command([]string{"COMPOSE_PROJECT_NAME=" + project, "COVEY_IMAGE=" + image}, "", "docker-compose", args...)
}

// exec runs a command in a service's container.
func (c *composition) exec(service, stdin string, args ...string) (string, error) {
	args = append([]string{"exec", "-i", c.container(service)}, args...)
	return c.d.command(nil, stdin, "docker", args...)
}

func (c *composition) container(service string) string { return project + "_" + service + "_1" }

func (c *composition) must(out string, err error) string {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (c *composition) until(what string, try func() error) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	c.t.Fatalf("waiting for %s: %v", what, err)
}

func (c *composition) peers(node string) (p fed.Peers, err error) {
	text, err := c.exec(node, "", "coordinator", "raft", "peers", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	return p, err
}

func (c *composition) study(node, name string) (v fed.View, err error) {
	text, err := c.exec(node, "", "coordinator", "study", "show", name, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &v)
	}
	return v, err
}

// buildBinaries makes both commands as deploy/build.sh does.
func buildBinaries(t *testing.T, version string) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("../../deploy/build.sh", bin)
	build.Env = append(os.Environ(), "COVEY_VERSION="+version)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestCompose is what a person does who follows deploy/compose/README.md: five sites
// join three coordinators, a study is approved by each, the coordinator that leads is
// killed half-way, and the result verifies.
func TestCompose(t *testing.T) {
	c := &composition{t, newDaemon(t)}
	bin := buildBinaries(t, "compose-test")
	for _, name := range []string{"coordinator", "agent"} {
		if out, err := exec.Command("file", "-L", filepath.Join(bin, name)).Output(); err == nil && !strings.Contains(string(out), "statically linked") {
			t.Errorf("%s", out)
		}
	}
	c.must(c.d.command([]string{"BIN=" + bin}, "", "../../deploy/image/build.sh", image))
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range nodes {
				out, err := c.compose("logs", "--tail", "20", s)
				t.Log(out, err)
			}
		}
		if _, err := c.compose("down", "-v", "--remove-orphans", "-t", "5"); err != nil {
			t.Error(err)
		}
	})
	said := c.must(c.d.command([]string{"COMPOSE_PROJECT_NAME=" + project, "COVEY_IMAGE=" + image}, "", "sh", "-c", "exec "+folder+"/init.sh 2>&1"))
	key := regexp.MustCompile(`signing key ([a-z0-9-]+)`).FindStringSubmatch(said)
	if key == nil {
		t.Fatalf("init.sh names no signing key:\n%s", said)
	}

	c.until("five sites with their rows", func() error {
		out, err := c.exec("three", "", "coordinator", "site", "list")
		if n := len(regexp.MustCompile(`(?m)^\S+ +connected .*diamonds \(\d+\)`).FindAllString(out, -1)); err == nil && n != len(sites) {
			err = errors.New(out)
		}
		return err
	})
	c.confined()

	study, err := os.ReadFile(filepath.Join(folder, "study.toml"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "through-a-loss"
	renamed := strings.Replace(string(study), `"diamonds-compose"`, strconv.Quote(name), 1)
	digest := c.must(c.exec("two", renamed, "coordinator", "study", "create", "/dev/stdin"))
	for _, site := range sites {
		c.until(site+" to see the proposal", func() error {
			out, err := c.exec(site, "", "agent", "-C", "/config", "study", "show", name)
			if err == nil && !strings.Contains(out, "What leaves this site") {
				err = errors.New(out)
			}
			return err
		})
		if got := c.must(c.exec(site, "", "agent", "-C", "/config", "study", "approve", digest, "--yes")); got != digest {
			t.Fatalf("%s approved %s, not %s", site, got, digest)
		}
	}

	p, err := c.peers("two")
	if err != nil || len(p.Peers) != 3 {
		t.Fatalf("%+v %v", p, err)
	}
	at := slices.IndexFunc(p.Peers, func(q struct{ ID, Address string }) bool { return q.ID == p.Leader })
	lost := nodes[at]
	left := nodes[(at+1)%3]
	under := func() (v fed.View) {
		c.until("the study to be under way", func() (err error) {
			if v, err = c.study(left, name); err == nil && v.Released < 3 {
				err = fmt.Errorf("%+v", v)
			}
			return err
		})
		return v
	}
	// A site that is frozen holds the study where it is: the leader dies half-way, and not after.
	under()
	c.must(c.d.command(nil, "", "docker", "pause", c.container("fair")))
	v := under()
	if v.Status == "completed" {
		t.Fatalf("the study was over before anything could fail: %+v", v)
	}
	c.must(c.d.command(nil, "", "docker", "kill", c.container(lost)))
	c.must(c.d.command(nil, "", "docker", "unpause", c.container("fair")))
	t.Logf("%s, which led, was killed after %d of %d releases", lost, v.Released, v.Queries)
	c.until("the study's end", func() error {
		v, err := c.study(left, name)
		if err == nil && v.Status != "completed" {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})

	result := filepath.Join(t.TempDir(), "result.json")
	text := c.must(c.exec(left, "", "coordinator", "study", "result", name, "--json"))
	if err := os.WriteFile(result, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := c.must(c.d.command(nil, "", filepath.Join(bin, "coordinator"), "verify", result, "--key", key[1])); !strings.Contains(out, digest) {
		t.Errorf("verify says\n%s", out)
	}
	c.must(c.d.command(nil, "", "docker", "run", "--rm", "--network", "none", "-v", result+":/result.json:ro", image, "agent", "verify", "/result.json", "--key", key[1]))
	broken := strings.Replace(text, `"epsilon"`, `"epsilom"`, 1)
	if _, err := c.d.command(nil, broken, filepath.Join(bin, "coordinator"), "verify", "/dev/stdin", "--key", key[1]); err == nil {
		t.Error("a changed result verifies")
	}

	c.page(left, name)

	c.must(c.d.command(nil, "", "docker", "start", c.container(lost)))
	c.until("everyone to be healthy", func() error {
		var sick []string
		for _, s := range append(nodes[:3:3], sites...) {
			if out, err := c.d.command(nil, "", "docker", "inspect", "-f", "{{.State.Health.Status}}", c.container(s)); err != nil || strings.TrimSpace(out) != "healthy" {
				sick = append(sick, s)
			}
		}
		if sick != nil {
			return fmt.Errorf("not healthy: %v", sick)
		}
		return nil
	})
	if v, err := c.study(lost, name); err != nil || v.Status != "completed" {
		t.Errorf("the coordinator that came back knows %+v %v", v, err)
	}
}

// confined checks what the compose file and the image promise of every process.
func (c *composition) confined() {
	c.t.Helper()
	for _, s := range append(nodes[:3:3], sites...) {
		pid := c.must(c.d.command(nil, "", "docker", "inspect", "-f", "{{.State.Pid}}", c.container(s)))
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			c.t.Fatal(err)
		}
		for _, want := range []string{`Uid:\s+65532\s`, `Gid:\s+65532\s`, `CapEff:\s+0+\n`, `CapBnd:\s+0+\n`, `NoNewPrivs:\s+1\n`, `Seccomp:\s+2\n`} {
			if !regexp.MustCompile(want).Match(status) {
				c.t.Errorf("%s: no %q in\n%s", s, want, status)
			}
		}
		if err := os.WriteFile("/proc/"+pid+"/root/bin/x", nil, 0o600); err == nil {
			c.t.Errorf("%s: its root file system is writable", s)
		}
	}
}

// page opens a coordinator's page through the port on loopback, with an operator's token.
func (c *composition) page(node, study string) {
	c.t.Helper()
	secret := c.must(c.exec(node, "", "coordinator", "page", "invite", "ana", "--role", "operator", "--out", "-"))
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return c.d.dial(ctx, network, strings.Replace(address, "localhost", "127.0.0.1", 1))
	}}}
	defer client.CloseIdleConnections()
	port := 7481 + slices.Index(nodes, node)
	get := func(path, token string) (int, string) {
		r, err := http.NewRequest("GET", fmt.Sprintf("http://localhost:%d%s", port, path), nil)
		if err != nil {
			c.t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			c.t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if code, _ := get("/", ""); code != http.StatusUnauthorized && code != http.StatusSeeOther {
		c.t.Errorf("without a token the page answers %d", code)
	}
	c.until("the page", func() error {
		if code, text := get("/", secret); code != http.StatusOK || !strings.Contains(text, study) {
			return fmt.Errorf("the page answers %d:\n%.2000s", code, text)
		}
		return nil
	})
	if code, text := get("/metrics", secret); code != http.StatusOK || !strings.Contains(text, "covey_") {
		c.t.Errorf("/metrics answers %d:\n%.500s", code, text)
	}
}
