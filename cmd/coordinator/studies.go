package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/frame"
	"covey/internal/operator"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

type studyCmd struct {
	Init     shared.Init     `cmd:"" help:"Write a first study file from a header or a data dictionary."`
	Validate validateCmd     `cmd:"" help:"Check a study file and print its plan."`
	Simulate shared.Simulate `cmd:"" help:"Try a study on files, in this process, with real noise: what would studies of this plan find?"`
	Plan     shared.Plan     `cmd:"" help:"Compute what it takes to capture a share: units, ε or components."`

	Create    createCmd    `cmd:"" help:"Propose a study to its sites."`
	List      studiesCmd   `cmd:"" help:"List studies."`
	Show      showCmd      `cmd:"" help:"Show a study's progress."`
	Watch     watchCmd     `cmd:"" help:"Watch a study until it is over."`
	Approvals approvalsCmd `cmd:"" help:"Show each site's decision, as it signed it, and check the signatures."`
	Abort     abortCmd     `cmd:"" help:"End a study; what was charged stays charged."`
	Result    resultCmd    `cmd:"" help:"Print a completed study's result."`
}

type validateCmd struct{ shared.Validate }

func (c *validateCmd) Run(s *terminal) error {
	return c.Check(s.Terminal, func(text []byte) (*study.Plan, error) {
		if _, err := s.client(); err != nil {
			return nil, shared.Bad("the file is in order, but a plan needs the sites' counts: give --units (such as --units 1610,4906,12082, one count per site), or --data of a running coordinator")
		}
		r, err := ask[operator.CreateReply](s, "POST", "/v1/plan", text)
		return r.Plan, err
	})
}

type createCmd struct {
	File string `arg:"" type:"existingfile" help:"study.toml."`
}

func (c *createCmd) Run(s *terminal) error {
	text, err := shared.ReadStudy(c.File)
	if err != nil {
		return err
	}
	if _, text, err = shared.ReadSpec(c.File, text); err != nil {
		return err
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	var r operator.CreateReply
	if err := client.do("POST", "/v1/studies", text, &r); err != nil {
		return shared.InFile(c.File, err)
	}
	s.Warn(append(r.Warnings, c.again(client, r)...))
	if s.JSON {
		return shared.PrintJSON(s.Out, r)
	}
	fmt.Fprintf(s.Err, "proposed to %d sites; it starts when all have approved, and waits for them %s\n", r.Plan.Thresholds.Sites, shared.UntilWhen(r.Plan.Proposal.Expires()))
	fmt.Fprintln(s.Out, r.Digest)
	return nil
}

// proposal returns a study's proposal.
func (c *createCmd) proposal(client *client, id proposal.Digest) (proposal.Proposal, error) {
	body, err := client.call("GET", "/v1/studies/"+id.String()+"/proposal", nil)
	if err != nil {
		return proposal.Proposal{}, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return proposal.Proposal{}, err
	}
	return proposal.Parse(text)
}

// again warns of a study that may have been proposed twice: of one with the same name that is not
// over, and of one that asked for the same and is completed.
func (c *createCmd) again(client *client, r operator.CreateReply) []string {
	var views []outline.View
	if err := client.do("GET", "/v1/studies", nil, &views); err != nil {
		return nil // it is proposed all the same
	}
	var out, same []string
	for _, v := range views {
		switch {
		case v.Digest == r.Digest || v.Status == round.StatusEnded:
		case v.Status == round.StatusCompleted:
			if v.Epsilon != r.Plan.Proposal.Spec.Epsilon || v.Delta != r.Plan.Proposal.Spec.Delta {
				continue // as Again would find, of a proposal that is not read
			}
			if p, err := c.proposal(client, v.Digest); err == nil && r.Plan.Proposal.Again(p) {
				same = append(same, r.Plan.AgainText(v.Digest, v.Name))
			}
		case v.Name == r.Plan.Proposal.Spec.Name:
			out = append(out, fmt.Sprintf("study %.12s has the same name and is not over: each takes privacy budget of its own; `coordinator study abort %.12s` ends it", v.Digest, v.Digest))
		}
	}
	return append(out, study.Again(same)...)
}

type studiesCmd struct{}

func (c *studiesCmd) Run(s *terminal) error {
	return list(s, "GET", "/v1/studies", func(w io.Writer, views []outline.View) {
		fmt.Fprintln(w, "DIGEST\tNAME\tSTATUS\tQUERIES\tε\tPROPOSED BY\tWAITING FOR")
		for _, v := range views {
			status := string(v.Status)
			switch v.Status {
			case round.StatusProposed:
				if !v.Expires.IsZero() {
					status += " until " + v.Expires.UTC().Format(time.RFC3339)
				}
			case round.StatusEnded:
				status = strings.TrimSpace(fmt.Sprintf("%s: %s %s", v.Status, v.Code, v.Blame()))
			}
			// not rounds, which begin anew for the next component and do not count what comes after
			fmt.Fprintf(w, "%.12s\t%s\t%s\t%d/%d\t%g\t%s\t%s\n", v.Digest, frame.Cell(v.Name), status, v.Released, v.Queries, v.Epsilon, proposedBy(v), strings.Join(v.Waiting, " "))
		}
	})
}

// proposedBy names who proposed a study.
func proposedBy(v outline.View) string {
	if v.Proposer == "" {
		return "operator"
	}
	return frame.Word(v.Proposer)
}

// studyRef names a study.
type studyRef struct {
	Study string `arg:"" help:"The study's digest, its beginning, or its name."`
}

func (r studyRef) path(tail string) string { return "/v1/studies/" + url.PathEscape(r.Study) + tail }

type showCmd struct {
	studyRef
	Proposal bool `help:"Print the proposal's exact bytes."`
}

func (c *showCmd) Run(s *terminal) error {
	if c.Proposal {
		return s.copy(c.path("/proposal"))
	}
	v, err := ask[outline.View](s, "GET", c.path(""), nil)
	if err != nil {
		return err
	}
	return s.Print(v, func(w io.Writer) { printView(w, v) })
}

func printView(out io.Writer, v outline.View) error {
	var text strings.Builder // a study's name is its proposer's words
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "study\t%s\ndigest\t%s\nstatus\t%s\n", frame.Printable(v.Name), v.Digest, describe(v))
	if v.Proposer != "" {
		fmt.Fprintf(w, "proposed by\t%s, an analyst, who signed this digest\n", frame.Word(v.Proposer))
	}
	if len(v.Readers) > 0 {
		fmt.Fprintf(w, "readers\t%s\n", strings.Join(v.Readers, " "))
	}
	if v.Status == round.StatusEnded {
		fmt.Fprintf(w, "ended\t%s\n", strings.TrimSpace(string(v.Code)+" "+v.Blame()))
	}
	rho, most := v.Charged()
	fmt.Fprintf(w, "privacy\tε = %g, δ = %g when one unit is replaced (%s); %sρ = %.6g of %.6g charged\n", v.Epsilon, v.Delta, v.Adjacency, most, rho, v.RhoPlanned)
	fmt.Fprintf(w, "queries\t%d of %d released, slot %d of %d\n", v.Released, v.Queries, v.Slot, v.Slots)
	for _, f := range v.Faults {
		fmt.Fprintf(w, "fault\t%s: %s\n", f.Site, f.Code)
	}
	fmt.Fprintln(w, "\nSITE\tUNITS\tLINK\tDECISION")
	for _, s := range v.Sites {
		link := cmp.Or(s.Barred, "away")
		if s.Connected {
			link = "connected"
		}
		if why := refuses(s); why != "" {
			link += ", refuses: " + why
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", s.Name, s.Units, link, decisionText(s.Verdict, s.Code))
	}
	w.Flush()
	return shared.Lines(out, text.String(), "      ")
}

type watchCmd struct {
	studyRef
}

func (c *watchCmd) Run(s *terminal) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	show := newProgress(s.Err)
	lost, said := time.Time{}, false
	for {
		before := lost
		over, err := c.follow(s, client, show, &lost)
		said = said && lost.Equal(before) // a view came: the next loss is said again
		if over {
			return err
		}
		if s.Ctx.Err() != nil {
			show.Clear()
			return fmt.Errorf("stopped watching; the study goes on, and `coordinator study watch %s` follows it again", shared.Shell(c.Study))
		}
		// The coordinator stopped, or the lead moved: the next one says where the
		// study stands.
		was := "the coordinator that led was lost; looking for the next one"
		if lost.IsZero() {
			if !shared.Is[*shared.AgainError](err) {
				return err // never reached
			}
			lost, was = time.Now(), "no coordinator leads; looking for one"
		}
		if !said {
			show.Clear()
			fmt.Fprintf(s.Err, "%s until %s\n", was, lost.Add(watchPatience).Format(time.TimeOnly))
		}
		said = true
		if time.Since(lost) > watchPatience {
			return fmt.Errorf("no coordinator leads since %v: %w", watchPatience, err)
		}
		select {
		case <-time.After(time.Second):
		case <-s.Ctx.Done():
		}
	}
}

// watchPatience is how long a watch looks for a leader.
const watchPatience = time.Minute

// follow shows one connection's views. over says that the study is; lost is when a
// view was last seen.
func (c *watchCmd) follow(s *terminal, client *client, show *progress, lost *time.Time) (over bool, err error) {
	body, err := client.once("GET", c.path("/watch"), nil) // Run waits
	if err != nil {
		_, mine := errors.AsType[*shared.InputError](err)
		return mine, err
	}
	defer body.Close()
	lines := json.NewDecoder(bufio.NewReader(body))
	for {
		var v outline.View
		if err := lines.Decode(&v); err != nil {
			return false, errors.New("the coordinator stopped before the study was over; watch again when it is back")
		}
		*lost = time.Now()
		if s.JSON {
			if err := json.NewEncoder(s.Out).Encode(v); err != nil {
				return true, err
			}
		} else {
			show.see(v)
		}
		if v.Status == round.StatusCompleted || v.Status == round.StatusEnded {
			show.End()
			return true, ended(v)
		}
	}
}

// ended returns the error of a study that ended without a result.
func ended(v outline.View) error {
	if v.Status != round.StatusEnded {
		return nil
	}
	if who := v.Blame(); who != "" {
		return fmt.Errorf("the study ended without a result: %s (%s)", v.Code, who)
	}
	return fmt.Errorf("the study ended without a result: %s", v.Code)
}

type abortCmd struct{ studyRef }

func (c *abortCmd) Run(s *terminal) error {
	v, err := ask[outline.View](s, "GET", c.path(""), nil)
	if err != nil {
		return err
	}
	ended, err := ask[operator.AbortReply](s, "POST", "/v1/studies/"+v.Digest.String()+"/abort", nil)
	if err != nil {
		return err
	}
	if ended.Digest != v.Digest {
		return fmt.Errorf("the coordinator answers about study %s, not %s", ended.Digest, v.Digest)
	}
	fmt.Fprintf(s.Err, "study %s (%q) is ended; what was charged stays charged\n", v.Digest, v.Name)
	return printDone(s, ended)
}

type resultCmd struct {
	studyRef
}

func (c *resultCmd) Run(s *terminal) error {
	if s.JSON { // the file's exact bytes
		return s.copy(c.path("/result"))
	}
	r, err := ask[result.Result](s, "GET", c.path("/result"), nil)
	if err != nil {
		return err
	}
	return s.PrintResult(&r)
}
