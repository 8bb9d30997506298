package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/control"
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/memory"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

type joinCmd struct {
	File  string `arg:"" help:"The join file."`
	To    string `short:"o" placeholder:"DIR" help:"Data folder to make (that of -C, or ./SITE)."`
	Again bool   `help:"Join again into the folder of a site that has joined: its certificate expired, or its coordinator has another CA. The keys stay."`
}

func (c *joinCmd) Run(t *terminal) error {
	text, join, err := shared.ReadJoin(c.File, t.Err)
	if err != nil {
		return err
	}
	dir := c.To
	switch {
	case dir != "":
	case t.dir != ".":
		dir = t.dir
	default:
		dir = join.Site
	}
	t.Say("Joining at %s (at most %v for each address)\nunder the CA with this fingerprint, which the coordinator's operator can read to you:\n  %s",
		strings.Join(join.Coordinator, ", "), enroll.JoinTimeout, join.Fingerprint)
	as, before := enroll.Site, ""
	as.Again = c.Again
	if holder, err := pki.LoadHolder(pki.RoleSite, dir); c.Again && err == nil && holder.Issuer() != nil {
		before = pki.CAFingerprint(holder.Issuer())
	}
	if err := as.Join(t.Ctx, text, dir, time.Now()); err != nil {
		if t.Ctx.Err() != nil {
			return errors.New("interrupted: try the same join file again")
		}
		return err
	}
	site, err := pki.LoadHolder(pki.RoleSite, dir)
	if err != nil {
		return err
	}
	joined := struct {
		Site        string    `json:"site"`
		Dir         string    `json:"dir"`
		Config      string    `json:"config"`
		Fingerprint string    `json:"fingerprint"`
		Expires     time.Time `json:"certificate_expires"`
	}{join.Site, dir, filepath.Join(dir, siteconfig.File), siteconfig.FingerprintOf(site), site.Certificate().NotAfter}
	if c.Again {
		t.Say("Site %s has joined again, with the keys that it had; agent.toml stays as it is.", joined.Site)
		if before != "" && before != join.Fingerprint {
			t.Say("Its CA has changed; before, it was\n  %s\nIf the coordinator's operator has not told you of this change, this is another federation: ask your own operator for a new file, and join again with it.", before)
		}
		t.Say("The join file is used up; delete it. Then: agent -C DIR check, where DIR has agent.toml")
		return t.Print(joined, func(w io.Writer) { fmt.Fprintln(w, joined.Fingerprint) })
	}
	t.Say("Site %s has joined. Fill in %s, then: agent -C %s check", joined.Site, joined.Config, shared.Shell(dir))
	t.Say("The join file is used up; delete it. Tell the other sites your key's fingerprint, and not through this coordinator:")
	return t.Print(joined, func(w io.Writer) { fmt.Fprintln(w, joined.Fingerprint) })
}

// garbage is how much unused memory may accumulate in a small heap before it is collected, in
// percent of the memory in use; less in a large heap ([memory.Pace]).
const garbage = 40

type runCmd struct {
	Log         string   `default:"auto" enum:"auto,json,text" help:"json, text, or auto: text on a terminal, JSON elsewhere."`
	Metrics     string   `placeholder:"HOST:PORT" env:"COVEY_AGENT_METRICS" help:"Serve /metrics here, such as 127.0.0.1:7481: anyone who can reach it sees budgets and counts, but no data."`
	MetricsHost []string `placeholder:"NAME" help:"A host name under which /metrics is reached; localhost and IP addresses always work."`
}

func (c *runCmd) Run(t *terminal) error {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	if t.JSON {
		c.Log = "json"
	}
	log := shared.NewLogger(t.Err, c.Log, slog.LevelInfo)
	memory.Keep().Log(log) // before the keys are read
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
		memory.Pace()
	}
	a, err := agent.New(agent.Options{Config: config, Logger: log, Control: control.Serve, Free: debug.FreeOSMemory})
	if errors.Is(err, ledger.ErrLocked) {
		return fmt.Errorf("%s: %w", config.LedgerDir(), err)
	}
	if errors.Is(err, pki.ErrNotJoined) {
		return fmt.Errorf("%s: %w: agent join FILE, with a join file from the coordinator's operator", config.DataDir(), err)
	}
	if err != nil {
		return unopened(err, config.DataDir())
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for {
			select {
			case <-hangup:
				a.Settings.Reload(false) // which logs what came of it
			case <-t.Ctx.Done():
				return
			}
		}
	}()
	if c.Metrics != "" {
		l, err := net.Listen("tcp", c.Metrics)
		if err != nil {
			return errors.Join(shared.Bad("--metrics: %w", err), a.Close())
		}
		log.Info("metrics are served", "url", "http://"+l.Addr().String()+"/metrics")
		ctx, stop := context.WithCancel(t.Ctx)
		done := make(chan error, 1)
		go func() { done <- serveMetrics(ctx, l, metricsHandler(&a.Views, c.MetricsHost)) }()
		defer func() {
			stop()
			if err := <-done; err != nil {
				log.Error("metrics server stopped", "error", err)
			}
		}()
	}
	if err := a.Run(t.Ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	log.Info("stopped, as asked") // or a log would end as after a kill
	return nil
}

// unopened adds to the error of opening a data folder what to do: a volume that is not mounted has
// no keys, and one start as root leaves files that the agent's own user cannot open. Another try
// would not help the latter, so it is bad input.
func unopened(err error, dir string) error {
	switch keys := shared.Is[*pki.FileError](err); {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return shared.Bad("%w: run the agent as the user who owns %s; let all in it be that user's (chown -R USER %[2]s), on a file system that can be written", err, shared.Shell(dir))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: free some space or file numbers (df, df -i) and start the agent again; delete nothing in ledger/", err)
	case keys && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: is %s the folder that `agent join` made, and its disk or volume mounted? `agent check` says more", err, shared.Shell(dir))
	}
	return err
}

type statusCmd struct {
	Hash bool `help:"Compare every byte of the data sets with what the studies under way pinned; a database is queried again."`
}

func (c *statusCmd) Run(t *terminal) error {
	path := []string{"status"}
	if c.Hash {
		path = append(path, "hashed")
	}
	s, err := ask[agent.Status](t, "GET", path...)
	if err != nil {
		return err
	}
	return t.Print(s, func(w io.Writer) { printStatus(w, s) })
}

type studyCmd struct {
	List     studyListCmd     `cmd:"" help:"List the studies that this site knows, and why each one ended."`
	Show     studyShowCmd     `cmd:"" help:"Show what a study takes, releases and charges, or how it ended here."`
	Result   studyResultCmd   `cmd:"" help:"Fetch and check the signed result of a study of this site."`
	Approve  studyApproveCmd  `cmd:"" help:"Approve a study: read \"study show\" first."`
	Withdraw studyWithdrawCmd `cmd:"" help:"Take an approval back, as long as the study's setup has not begun."`
	Reject   studyRejectCmd   `cmd:"" help:"Reject a study; withdraw from one that was approved, or leave it if it has begun."`
}

type studyListCmd struct{}

func (studyListCmd) Run(t *terminal) error {
	s, err := ask[[]agent.StudyView](t, "GET", "studies")
	if err != nil {
		return err
	}
	return t.Print(s, func(w io.Writer) { printStudies(w, s) })
}

// ref is how a study is named.
type ref struct {
	Study string `arg:"" help:"A digest, the beginning of one (4 digits or more), or a name."`
}

type studyShowCmd struct{ ref }

func (c *studyShowCmd) Run(t *terminal) error {
	s, err := ask[agent.StudyDetail](t, "GET", "studies", c.Study)
	if err != nil {
		return err
	}
	addFigures(t, &s)
	return t.Print(s, func(w io.Writer) { printStudy(w, s) })
}

// addFigures asks for this site's own figures of a study that is not over.
func addFigures(t *terminal, s *agent.StudyDetail) {
	if s.Plan == nil || s.Budget == nil {
		return
	}
	f, err := ask[sitedata.Figures](t, "GET", "studies", s.Digest.String(), "figures")
	if err != nil {
		s.FiguresError = err.Error()
		return
	}
	s.Figures = &f
}

// decision is a word of the operator on one study.
type decision struct {
	ref
	Yes bool `short:"y" help:"Do not ask: STUDY is the whole digest that \"study show\" printed."`
}

// agreed returns the study that was meant, once the operator has agreed to decide on that digest
// and no other.
func (c *decision) agreed(t *terminal, question, undone string) (agent.StudyDetail, error) {
	s, err := c.resolve(t)
	if err != nil {
		return s, err
	}
	// a withdrawal is told again, to a coordinator that may not have heard of it
	again := s.State == string(ledger.Finished) && question != "Approve" && s.Code == string(study.CodeWithdrawn)
	if open := s.State == "pending" || s.State == string(ledger.Approved); !open && !again {
		text := fmt.Sprintf("study %.12s is over here: %s (%s)", s.Digest, s.State, s.Code)
		if s.Why != "" {
			text += ": " + s.Why
		}
		return s, shared.Bad("%s", text)
	}
	if c.Yes {
		if _, err := proposal.ParseDigest(c.Study); err != nil {
			// The coordinator may have substituted another study for the one that was read.
			return s, shared.Bad("--yes needs the whole digest that \"study show\" printed: 64 hexadecimal digits, got %.80q", c.Study)
		}
		return s, nil
	}
	addFigures(t, &s)
	printStudy(t.Err, s)
	return s, t.Confirm(fmt.Sprintf("\n%s study %s? Type yes: ", question, s.Digest), undone, "read \"study show\" and give --yes with the whole digest that it prints")
}

type studyApproveCmd struct{ decision }

func (c *studyApproveCmd) Run(t *terminal) error {
	s, err := c.agreed(t, "Approve", "not approved")
	if err != nil {
		return err
	}
	if c.Yes { // who was asked has just read them
		t.Warn(s.Warnings)
	}
	done, err := ask[agent.StudyDetail](t, "POST", "studies", s.Digest.String(), "approve")
	if err != nil {
		if strings.HasPrefix(err.Error(), "data set ") {
			t.Say("Not approved: the rows cannot be read as this study asks. What to change: agent check --study FILE, where FILE is,\nin the data folder, pending/%s.toml.gz", s.Digest)
		}
		return err
	}
	if err := same(done.Digest, s.Digest); err != nil {
		return err
	}
	t.Say("Study %s is approved: ρ = %.6g of population %q is reserved.", done.Digest, done.Rho, done.Population)
	return t.Print(done.StudyView, func(w io.Writer) { fmt.Fprintln(w, done.Digest) })
}

// resolve returns the study that is meant. A whole digest means itself and nothing else.
func (r ref) resolve(t *terminal) (agent.StudyDetail, error) {
	s, err := ask[agent.StudyDetail](t, "GET", "studies", r.Study)
	if err != nil {
		return s, err
	}
	if id, whole := proposal.ParseDigest(r.Study); whole == nil {
		return s, same(s.Digest, id)
	}
	return s, nil
}

// same compares the study that the agent answers about with the one that was meant.
func same(got, want proposal.Digest) error {
	if got != want {
		return fmt.Errorf("the agent answers about study %s, not %s", got, want)
	}
	return nil
}

type studyRejectCmd struct{ decision }

func (c *studyRejectCmd) Run(t *terminal) error {
	return c.leave(t, "reject", "Reject", "not rejected")
}

type studyWithdrawCmd struct{ decision }

func (c *studyWithdrawCmd) Run(t *terminal) error {
	return c.leave(t, "withdraw", "Withdraw the approval of", "not withdrawn")
}

// leave takes this site out of a study.
func (c *decision) leave(t *terminal, word, question, undone string) error {
	found, err := c.agreed(t, question, undone)
	if err != nil {
		return err
	}
	s, err := ask[agent.StudyView](t, "POST", "studies", found.Digest.String(), word)
	if err != nil {
		return err
	}
	if err := same(s.Digest, found.Digest); err != nil {
		return err
	}
	t.Say("%s", without(s))
	return t.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.Digest) })
}

// without is how a site is out of a study by its operator's word.
func without(s agent.StudyView) string {
	id := s.Digest.String()[:12]
	switch study.Code(s.Code) {
	case study.CodeWithdrawn:
		return fmt.Sprintf("The approval of study %s is withdrawn: ρ = %.6g of population %q is free again, and the study ends when the coordinator hears of it, at once or when the agent is next linked.", id, s.Rho, s.Population)
	case study.CodeLeft:
		return fmt.Sprintf("Study %s had begun, too late to withdraw, so this site left it: ρ = %.6g of population %q stays charged. It ends, or goes on without this site.", id, s.SpentRho, s.Population)
	}
	return fmt.Sprintf("Study %s is %s.", id, s.State)
}

type ledgerCmd struct {
	Show    ledgerShowCmd    `cmd:"" help:"Show budgets and charges."`
	Export  ledgerExportCmd  `cmd:"" help:"Write budgets and charges as JSON. Keep a copy elsewhere: \"recover --from\" reads it."`
	Recover ledgerRecoverCmd `cmd:"" help:"Recover from the loss of ledger files; stop the agent first."`
}

type ledgerShowCmd struct{}

func (ledgerShowCmd) Run(t *terminal) error {
	l, err := ask[agent.LedgerReply](t, "GET", "ledger")
	if err != nil {
		return err
	}
	return t.Print(l, func(w io.Writer) { printLedger(w, l) })
}

type ledgerExportCmd struct{}

func (ledgerExportCmd) Run(t *terminal) error {
	l, err := ask[agent.LedgerReply](t, "GET", "ledger")
	if err != nil {
		return err
	}
	return shared.PrintJSON(t.Out, l)
}
