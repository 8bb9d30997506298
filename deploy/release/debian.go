package main

import (
	"bytes"
	"crypto/md5"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

func permission(mode int64) fs.FileMode { return fs.FileMode(mode) }

// scripts are what dpkg runs: debian/PROGRAM.{postinst,prerm,postrm}.
//
//go:embed debian
var scripts embed.FS

var about = map[string]string{
	"agent":       "answers studies of principal components beside a site's data\n It runs where the rows are, and only masked, differentially private sums leave.",
	"analyst":     "proposes studies of principal components to a federation and reads results\n It reaches the coordinator from the analyst's own machine, signs what it proposes,\n and belongs on no machine of a site or a coordinator.",
	"coordinator": "runs studies of principal components over sites that do not pool\n It adds up masked sums of sites' agents, and sees no site's own.",
}

// debian makes a program's package: deb(5), by hand, since it is an ar of two tars. Nothing is
// started: a site joins first. Purging keeps ledger and keys, since a fresh ledger has a fresh
// budget.
func (r *release) debian(t target, name string, program []byte) error {
	pkg := "covey-" + name
	files := []entry{{"usr/bin/" + name, 0o755, program}}
	for at, page := range r.manuals[name] {
		if strings.HasPrefix(at, "usr/share/man/") {
			packed, err := compressed(page)
			if err != nil {
				return err
			}
			at, page = at+".gz", packed
		}
		files = append(files, entry{at, 0o644, page})
	}
	copied := map[string]string{"CHANGELOG.md": "usr/share/doc/" + pkg + "/CHANGELOG.md"}
	switch name {
	case "agent":
		copied["deploy/systemd/covey-agent@.service"] = "usr/lib/systemd/system/covey-agent@.service"
		copied["deploy/samples/agent.toml"] = "usr/share/doc/" + pkg + "/examples/agent.toml"
		copied["deploy/samples/policy.toml"] = "usr/share/doc/" + pkg + "/examples/policy.toml"
		clinic, err := os.ReadDir("examples/clinic") // the tutorials' hospitals
		if err != nil {
			return err
		}
		for _, f := range clinic {
			copied["examples/clinic/"+f.Name()] = "usr/share/doc/" + pkg + "/examples/clinic/" + f.Name()
		}
	case "coordinator":
		copied["deploy/systemd/covey-coordinator.service"] = "usr/lib/systemd/system/covey-coordinator.service"
		copied["deploy/samples/coordinator.toml"] = "usr/share/doc/" + pkg + "/examples/coordinator.toml"
		copied["deploy/samples/study.toml"] = "usr/share/doc/" + pkg + "/examples/study.toml"
		copied["deploy/prometheus/alerts.yaml"] = "usr/share/doc/" + pkg + "/examples/alerts.yaml"
		copied["deploy/grafana/covey.json"] = "usr/share/doc/" + pkg + "/examples/grafana.json"
	}
	for from, to := range copied {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if strings.HasSuffix(to, ".service") {
			content = bytes.ReplaceAll(content, []byte("/usr/local/lib/covey/"), []byte("/usr/bin/"))
		}
		files = append(files, entry{to, 0o644, content})
	}
	if user, err := sysuser("covey-" + name); err != nil {
		return err
	} else if user != "" {
		files = append(files, entry{"usr/lib/sysusers.d/" + pkg + ".conf", 0o644, []byte(user)})
	}
	size := 0
	var sums strings.Builder
	for _, f := range sorted(files) {
		size += (len(f.content) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name) // for dpkg --verify; it proves nothing
	}
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: the covey project <covey@localhost>\nInstalled-Size: %d\nSection: science\nPriority: optional\nDescription: %s\n",
		pkg, debianVersion(r.version), t.arch, size, about[name])
	meta := []entry{{"control", 0o644, []byte(control)}, {"md5sums", 0o644, []byte(sums.String())}}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		if content, err := scripts.ReadFile("debian/" + name + "." + script); err == nil {
			meta = append(meta, entry{script, 0o755, content})
		}
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	r.member(&out, "debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name string
		all  []entry
	}{{"control.tar.gz", meta}, {"data.tar.gz", files}} {
		raw, err := tarred(part.all, r.time, "./")
		if err != nil {
			return err
		}
		if raw, err = compressed(raw); err != nil {
			return err
		}
		r.member(&out, part.name, raw)
	}
	return r.write(fmt.Sprintf("%s_%s_%s.deb", pkg, debianVersion(r.version), t.arch), out.Bytes())
}

// member appends a file to an ar archive.
func (r *release) member(out *bytes.Buffer, name string, content []byte) {
	fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, r.time.Unix(), 0, 0, 0o100644, len(content))
	out.Write(content)
	if len(content)%2 == 1 {
		out.WriteByte('\n')
	}
}

// debianVersion returns a version that dpkg takes: it begins with a digit and has no dash, which
// would begin a packager's own.
func debianVersion(version string) string {
	v := strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "+")
	if v == "" || v[0] < '0' || v[0] > '9' || !strings.Contains(v, ".") {
		v = "0~" + v
	}
	return v
}

// sysuser returns the line of deploy/systemd/covey.conf for a user; empty if there is none.
func sysuser(name string) (string, error) {
	content, err := os.ReadFile("deploy/systemd/covey.conf")
	for _, line := range strings.SplitAfter(string(content), "\n") {
		if strings.HasPrefix(line, "u "+name+" ") {
			return line, err
		}
	}
	return "", err
}
