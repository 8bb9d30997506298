package doctor

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"covey/internal/dataset"
	"covey/internal/enroll"
	"covey/internal/frame"
	"covey/internal/memory"
	"covey/internal/pki"
	"covey/internal/profile"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

// Check looks at all that an agent needs and leaves nothing changed: it opens neither
// the ledger nor a link, so it may run beside the agent. ctx bounds the wait for
// the coordinators. Whatever it finds has a code, and a remedy where it is not in order.
func Check(ctx context.Context, c *siteconfig.Config, now time.Time, options ...grpc.DialOption) []Finding {
	out := Local(c)
	add := func(code Code, check, detail string, err error) { out = append(out, found(code, check, detail, err)) }
	add(CheckFolder, "the agent's folder", c.DataDir()+" can be written", writable(c))
	out = append(out, open(c)...)
	site, err := pki.LoadHolder(pki.RoleSite, c.DataDir())
	if err != nil {
		add(CheckKeys, "keys", "", err)
		return out
	}
	add(CheckKeys, "keys", siteconfig.FingerprintOf(site), nil)
	if site.Name() == "" {
		add(CheckNotJoined, "certificate", "", pki.ErrNotJoined)
		return out
	}
	out = append(out, checkCertificate(c, site, now))
	for _, address := range c.Coordinator {
		lines := probe(ctx, site, address, c.Policy.QuantumSafeLinks, options)
		if site.Ended(now) != nil { // no coordinator lets it in, which shows as a broken link
			lines = slices.DeleteFunc(lines, func(f Finding) bool { return f.Code == CheckNoAnswer && !f.OK })
		}
		out = append(out, lines...)
	}
	return out
}

// Local is the part of Check that reads no key and calls nobody: configuration, budgets, data sets,
// policy and notices.
func Local(c *siteconfig.Config) []Finding {
	var out []Finding
	add := func(code Code, check, detail string, err error) { out = append(out, found(code, check, detail, err)) }
	add(CheckConfig, "configuration", c.File(), nil)
	for _, p := range c.Populations {
		limit, more, err := p.Caps(true)
		text := fmt.Sprintf("ρ = %.6g in all", limit)
		if more > limit {
			text = fmt.Sprintf("ρ = %.6g in all, %.6g once a study of another accountant than gdp is charged", more, limit)
			if p.Budget.Accountant == "" {
				text += ", or if the ledger has studies that were held to it"
			}
		}
		add(CheckConfig, "population "+p.Name, text, err)
		if epsilon, delta := p.Promise(); err == nil && epsilon > mostBudget {
			out = append(out, Finding{Code: CheckConfig, Check: "population " + p.Name, OK: true, Warning: true, Result: little(p, epsilon, delta), Do: "lower it; epsilon = 1 to 3, or cap_rho = 0.02 to 0.2, is usual"})
		}
	}
	first := map[[sha256.Size]byte]siteconfig.Dataset{}
	for _, d := range c.Datasets {
		info, err := dataset.Inspect(c.Source(d), d.Unit, dataset.ReadOptions{})
		add(CheckData, "data set "+d.Name, fmt.Sprintf("%s, %d columns, SHA-256 %x…, budget of %q", sizeOf(info.Rows, info.Units, d.Unit), len(info.Header), info.SHA256[:6], d.Population), asked(d, unnamed(d, err)))
		if names := absent(c.Source(d).Mapping, info.Header); err == nil && len(names) > 0 {
			out = append(out, Finding{Code: CheckData, Check: "data set " + d.Name, OK: true, Warning: true,
				Result: fmt.Sprintf("[dataset.columns] names columns that the source does not have: %d, the first %s", len(names), names[0]), Do: "write the names as the source's header has them"})
		}
		// Each population has a budget of its own: the same people in two have two.
		if same, twice := first[info.SHA256]; err == nil && twice && same.Population != d.Population {
			out = append(out, Finding{Code: CheckConfig, Check: "data set " + d.Name, OK: true, Warning: true,
				Result: fmt.Sprintf("its rows are those of data set %q, whose budget is that of %q: studies of the two may spend both budgets on the same people", same.Name, same.Population), Do: "name one population in both, unless their units are other people"})
		} else if err == nil && !twice {
			first[info.SHA256] = d
		}
	}
	if len(c.Datasets) == 0 {
		out = append(out, Finding{Code: CheckNoData, Check: "data sets", OK: true, Result: "none: this site offers nothing to studies yet", Do: remedies[CheckNoData]})
	}
	policy := Finding{Code: CheckPolicy, Check: "policy", OK: true, Result: c.Policy.Unattended()}
	if c.Policy.Approve == siteconfig.ApproveWithinLimits && slices.Contains(c.Policy.Noise, proposal.NoiseCentral) {
		policy.Do = remedies[CheckPolicy]
	}
	out = append(out, policy)
	for _, t := range c.Targets() {
		add(CheckNotify, "notices to "+t.Place(), "nothing was sent", t.Ready())
	}
	return out
}

// mostBudget is the ε of a budget above which a site is told what it means.
const mostBudget = 4

// little is what a large budget means.
func little(p siteconfig.Population, epsilon, delta float64) string {
	budget := fmt.Sprintf("a budget of epsilon = %g", epsilon)
	if p.Budget == nil {
		budget = fmt.Sprintf("cap_rho = %g, which is epsilon = %.3g at delta = %g,", p.CapRho, epsilon, delta)
	}
	return fmt.Sprintf("%s promises its people little: all studies together may change the odds about one person by a factor of e^ε = %.3g", budget, math.Exp(epsilon))
}

// absent are the names that a mapping takes columns from and the source does not have, quoted.
func absent(m dataset.Mapping, header []string) (out []string) {
	for _, study := range slices.Sorted(maps.Keys(m.Columns)) {
		from := m.Columns[study].Name
		if from != "" && !slices.ContainsFunc(header, func(h string) bool { return strings.TrimSpace(h) == strings.TrimSpace(from) }) {
			out = append(out, frame.Quoted(from))
		}
	}
	return out
}

// CheckStudy reads a data set as a study would, numbers and all, and changes
// nothing. text is a study.toml that a coordinator's operator sent ahead, or a proposal.
// A fault in the rows is a *DataError that names file, line and column.
// Where the rows are in order, one round is computed on them, and nothing is sent.
func CheckStudy(c *siteconfig.Config, text []byte) []Finding {
	spec, proposed, err := ReadStudy(text)
	if err != nil {
		return []Finding{found(CheckStudyFile, "study", "", err)}
	}
	detail, rows, err := checkRows(c, spec)
	out := []Finding{found(CheckColumns, "study "+frame.Word(spec.Name), detail, err)}
	out = append(out, odd(c, spec, err != nil)...)
	if err != nil {
		return out
	}
	if !proposed {
		text = nil
	}
	plan, self, small, err := planOf(c, spec, text, rows.Units)
	if small != nil {
		out = append(out, Finding{Code: CheckDryRun, Check: "units of all sites", OK: true, Warning: true,
			Result: fmt.Sprintf("the other sites must have more than this one; the dry run assumes %d units at each. With as many as here: %s", manyUnits, enroll.Plain(small)),
			Do:     "ask the analyst how many units the other sites have"})
	}
	if err == nil {
		d, _ := c.Dataset(spec.Dataset)
		n := peakOf(plan, d, rows)
		free, known := memory.Free()
		out = append(out, memoryOf(n, free, known))
		if known && n.all() > free {
			return append(out, Finding{Code: CheckDryRun, Check: "dry run of one round", OK: true, Warning: true,
				Result: "none: it reads all rows into memory, and there is not enough", Do: remedies[CheckMemory], Plan: plan})
		}
	}
	detail, figures, err := dryRun(c, spec, plan, self, err)
	if figures != nil {
		out[0].Figures, out[0].Warning = figures, figures.Gaps() != ""
		out = append(out, unitsOf(*figures)...)
	}
	dry := found(CheckDryRun, "dry run of one round", detail, err)
	dry.Plan = plan
	return append(out, dry)
}

// odd are all faults of the columns that a study asks for, each kind once, and what of a data set
// should be looked at; of a data set that cannot be used also how its file is written. None of it
// carries a value.
func odd(c *siteconfig.Config, spec proposal.Spec, failed bool) []Finding {
	d, ok := c.Dataset(spec.Dataset)
	if !ok || d.Query != "" { // a server was asked often enough
		return nil
	}
	r, err := profile.Of(c, d, &spec, dataset.ReadOptions{})
	if err != nil {
		return nil // which the data set's own line says
	}
	var out []Finding
	add := func(text string) {
		out = append(out, Finding{Code: CheckFaults, Check: "data set " + d.Name, OK: true, Warning: true, Result: text})
	}
	for _, l := range r.Look {
		switch l.About {
		case profile.AboutCode: // its text has the value, which goes to no log
			add(fmt.Sprintf("column %q: numbers that often stand for a missing value", l.Column))
			continue
		case profile.AboutID, profile.AboutFooter, profile.AboutUnit, profile.AboutTwin, profile.AboutMark, profile.AboutSame, profile.AboutNumbered:
		case profile.AboutEncoding: // numbers and ASCII are read all the same; a level is other, a boolean missing
			if !failed && !slices.ContainsFunc(spec.Columns, func(c proposal.Column) bool { return len(c.Levels) > 0 || c.As == proposal.AsBoolean }) {
				continue
			}
		case profile.AboutText, profile.AboutConstant:
			if !failed {
				continue
			}
		default: // which the figures of the study's columns have
			continue
		}
		add(l.String())
	}
	for _, f := range r.Faults {
		add(f.String(r.Lines))
	}
	if more := len(out) - mostWarnings; more > 0 {
		out = append(out[:mostWarnings], Finding{Code: CheckFaults, Check: "data set " + d.Name, OK: true, Warning: true, Result: fmt.Sprintf("%d more", more)})
	}
	if len(out) > 0 {
		out[len(out)-1].Do = fmt.Sprintf("agent data profile %s --study FILE: shows all, with lines for agent.toml", frame.Word(d.Name))
	}
	return out
}

// ReadStudy reads a study.toml or a proposal, and reports which it is.
func ReadStudy(text []byte) (spec proposal.Spec, proposed bool, err error) {
	if spec, err = proposal.ParseSpec(text); err == nil {
		return spec, false, nil
	}
	if p, bad := proposal.Parse(text); bad == nil {
		return p.Spec, true, nil
	}
	return spec, false, err
}

// mostWarnings is how many lines say what is odd of this site's rows.
const mostWarnings = 12

// unitsOf is what a person should see of this site's rows. None of it is a failure, and nothing
// that leaves the site depends on it.
func unitsOf(f sitedata.Figures) []Finding {
	const check = "units of columns"
	warnings := f.Warnings()
	if len(warnings) == 0 {
		return nil
	}
	var out []Finding
	for i, w := range warnings {
		if i == mostWarnings {
			out = append(out, Finding{Code: CheckUnits, Check: check, OK: true, Warning: true, Result: fmt.Sprintf("%d more: --json has all", len(warnings)-i)})
			break
		}
		out = append(out, Finding{Code: CheckUnits, Check: check, OK: true, Warning: true, Result: w})
	}
	for i := len(out) - 1; i >= 0; i-- {
		if sitedata.AsksUnit(out[i].Result) {
			out[i].Do = remedies[CheckUnits]
			break
		}
	}
	return out
}

// checkRows returns what is known of a study's rows without their values.
func checkRows(c *siteconfig.Config, spec proposal.Spec) (string, *dataset.Rows, error) {
	d, ok := c.Dataset(spec.Dataset)
	if !ok {
		return "", nil, c.Errorf("dataset", "no data set %q, which the study asks for", spec.Dataset)
	}
	if spec.Unit != d.Unit {
		return "", nil, &sitedata.DataError{Dataset: d.Name, Err: fmt.Errorf("its unit is %q, the study's %q: if both are the same, use the study's name in agent.toml, with the file's name below [dataset.columns]", d.Unit, spec.Unit)}
	}
	rows, err := dataset.Validate(c.Source(d), d.Request(spec), dataset.ReadOptions{})
	if err != nil {
		return "", nil, &sitedata.DataError{Dataset: d.Name, Err: unnamed(d, err)}
	}
	return fmt.Sprintf("data set %s: %s, %s, %d rows dropped for missing values", d.Name, sizeOf(rows.Rows, rows.Units, d.Unit), proposal.ColumnsText(len(spec.Columns), rows.D), rows.Dropped), rows, nil
}

// sizeOf words a data set's size: its rows and, where they are not units, its units.
func sizeOf(rows, units int, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%d rows", rows)
	}
	return fmt.Sprintf("%d rows of %d units (%s)", rows, units, unit)
}

func checkCertificate(c *siteconfig.Config, site *pki.Holder, now time.Time) Finding {
	const check = "certificate"
	leaf, left := site.Certificate(), pki.Expiry(site.Certificate(), now)
	switch {
	case site.Name() != c.Site:
		return found(CheckOtherSite, check, "", c.Errorf("site", "the certificate is for site %q, not %q", site.Name(), c.Site))
	case site.Ended(now) != nil:
		return found(CheckEnded, check, "", site.Ended(now))
	case now.Before(leaf.NotBefore):
		return found(CheckClockBehind, check, "", &pki.CertificateError{Reason: "the certificate is valid from " + leaf.NotBefore.UTC().Format(time.RFC3339) + ", and this machine's clock says " + now.UTC().Format(time.RFC3339)})
	}
	detail := fmt.Sprintf("of %s, %s left", site.Name(), frame.Count(left, "day", "days"))
	if left < int(pki.RenewBefore/(24*time.Hour)) {
		detail += " (the running agent renews it)"
	}
	return found(CheckEnded, check, detail, nil)
}
