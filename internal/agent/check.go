package agent

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"covey/internal/dataset"
	"covey/internal/pki"
	"covey/internal/study"
)

// Finding is one thing that Check looked at.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Err    error  `json:"-"` // nil if OK
}

// Check looks at all that an agent needs and changes nothing: it opens neither
// the ledger nor a link, so it may run beside the agent. ctx bounds the wait for
// the coordinator.
func Check(ctx context.Context, c *Config, now time.Time, options ...grpc.DialOption) []Finding {
	var out []Finding
	add := func(what, detail string, err error) {
		if err != nil {
			detail = plain(err)
		}
		out = append(out, Finding{what, err == nil, detail, err})
	}
	add("configuration", c.file, nil)
	for _, p := range c.Populations {
		limit, err := p.Cap()
		add("population "+p.Name, fmt.Sprintf("ρ = %.6g in all", limit), err)
	}
	for _, d := range c.Datasets {
		info, err := dataset.Inspect(c.source(d), d.Unit, dataset.ReadOptions{})
		add("data set "+d.Name, fmt.Sprintf("%s, %d columns, SHA-256 %x…, budget of %q", sizeOf(info.Rows, info.Units, d.Unit), len(info.Header), info.SHA256[:6], d.Population), err)
	}
	site, err := pki.LoadSite(c.DataDir())
	if err != nil {
		add("keys", "", err)
		return out
	}
	add("keys", FingerprintOf(site), nil)
	if site.Name() == "" {
		add("certificate", "", pki.ErrNotJoined)
		return out
	}
	add(checkCertificate(c, site, now))
	for _, address := range c.Coordinator {
		add("coordinator "+address, "answers over TLS with the pinned CA", handshakeWith(ctx, site, address, options))
	}
	return out
}

// CheckStudy reads a data set as a study would, numbers and all, and changes
// nothing. text is a study.toml that a coordinator's operator sent ahead, or a proposal.
// A fault in the rows is a *DataError that names file, line and column.
func CheckStudy(c *Config, text []byte) Finding {
	out := Finding{What: "study"}
	spec, err := study.ParseSpec(text)
	if err != nil {
		if p, asProposal := study.Parse(text); asProposal == nil {
			spec, err = p.Spec, nil
		}
	}
	if err == nil {
		out.What = "study " + spec.Name
		out.Detail, err = c.checkRows(spec)
	}
	if out.OK, out.Err = err == nil, err; err != nil {
		out.Detail = plain(err)
	}
	return out
}

func (c *Config) checkRows(spec study.Spec) (string, error) {
	d, ok := c.dataset(spec.Dataset)
	if !ok {
		return "", c.error("dataset", "no data set %q, which the study asks for", spec.Dataset)
	}
	if spec.Unit != d.Unit {
		return "", &DataError{d.Name, fmt.Errorf("its unit is %q, the study's %q", d.Unit, spec.Unit)}
	}
	rows, err := dataset.Validate(c.source(d), d.request(spec), dataset.ReadOptions{})
	if err != nil {
		return "", &DataError{d.Name, err}
	}
	return fmt.Sprintf("data set %s: %s, %d columns, %d rows dropped for missing values", d.Name, sizeOf(rows.Rows, rows.Units, d.Unit), rows.D, rows.Dropped), nil
}

// sizeOf words a data set's size: its rows and, where they are not units, its units.
func sizeOf(rows, units int, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%d rows", rows)
	}
	return fmt.Sprintf("%d rows of %d units (%s)", rows, units, unit)
}

// FingerprintOf gives the form of a site's key that people compare.
func FingerprintOf(site *pki.Site) string {
	return pki.Fingerprint(site.Identity().Public().(ed25519.PublicKey))
}

func checkCertificate(c *Config, site *pki.Site, now time.Time) (what, detail string, err error) {
	leaf, left := site.Certificate(), pki.Expiry(site.Certificate(), now)
	switch {
	case site.Name() != c.Site:
		err = c.error("site", "the certificate is of site %q, not %q", site.Name(), c.Site)
	case !now.Before(leaf.NotAfter):
		err = &pki.CertificateError{Reason: "ended " + leaf.NotAfter.Format(time.DateOnly) + "; the site must join again"}
	}
	detail = fmt.Sprintf("of %s, %d days left", site.Name(), left)
	if left < int(pki.RenewBefore/(24*time.Hour)) {
		detail += " (the running agent renews it)"
	}
	return "certificate", detail, err
}

// handshakeWith connects as the agent would and hangs up.
func handshakeWith(ctx context.Context, site *pki.Site, address string, options []grpc.DialOption) error {
	tls, err := site.ClientTLS(serverName(address))
	if err != nil {
		return err
	}
	seen := newHandshake(tls)
	conn, err := grpc.NewClient(address, append(dialOptions(seen), options...)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.Connect()
	for {
		switch state := conn.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure:
			// The state has no reason; a call that fails at once has.
			_, err := openStream(ctx, conn)
			if err == nil {
				continue // it came up in between
			}
			return &DialError{[]string{address}, seen.explain(err)}
		default:
			if !conn.WaitForStateChange(ctx, state) {
				return &DialError{[]string{address}, ctx.Err()}
			}
		}
	}
}
