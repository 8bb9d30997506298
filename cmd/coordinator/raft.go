package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"covey/internal/node"
	"covey/internal/pki"
	"covey/internal/proposal"
)

type raftCmd struct {
	Peers    raftPeersCmd    `cmd:"" help:"List the coordinators and the leader."`
	Add      raftAddCmd      `cmd:"" help:"Make the join file of a new coordinator."`
	Remove   raftRemoveCmd   `cmd:"" help:"Remove a coordinator for good."`
	Transfer raftTransferCmd `cmd:"" help:"Transfer the lead to another coordinator."`
	Snapshot raftSnapshotCmd `cmd:"" help:"Save this coordinator's state now and shorten its log."`
}

type raftPeersCmd struct {
}

func (c *raftPeersCmd) Run(s *terminal) error {
	r, err := ask[node.PeersReply](s, "GET", "/v1/raft/peers", nil)
	if err != nil {
		return err
	}
	if s.JSON {
		return json.NewEncoder(s.Out).Encode(r)
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPEER ADDRESS\tROLE\tKEY EXCHANGE\t")
	var unreached []string
	for _, p := range r.Peers {
		role := "follows"
		switch {
		case !slices.Contains(r.Reached, p.ID):
			role = "not reached"
			unreached = append(unreached, p.ID)
		case p.Leader:
			role = "leads"
		case !p.Voter:
			role = "does not vote"
		}
		if p.ID == r.Self {
			role += ", asked"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", p.ID, cmp.Or(p.Address, "-"), role, r.KeyExchanges[p.ID])
	}
	for _, name := range r.Given {
		fmt.Fprintf(w, "%s\t\thas the keys but is not in the cluster yet\t\n", name)
	}
	for _, i := range r.Invited {
		fmt.Fprintf(w, "%s\t\tjoin file until %s\t\n", i.Node, i.Expires.Format(time.RFC3339))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Leader == "" {
		fmt.Fprintln(s.Err, "this coordinator knows no leader: studies wait until a majority of the coordinators is connected")
	}
	tolerance := fmt.Sprintf("%d more may fail", r.MayFail)
	switch {
	case r.MayFail < 0:
		tolerance = "no majority is reached: studies wait until most see each other"
	case r.MayFail == 0:
		tolerance = "no more may fail"
	}
	if len(unreached) > 0 {
		tolerance += "; not reached: " + strings.Join(unreached, ", ")
	}
	fmt.Fprintln(s.Err, tolerance)
	for _, p := range r.Peers {
		if why := r.Why[p.ID]; why != "" {
			fmt.Fprintf(s.Err, "%s: %s\n", p.ID, why)
		}
	}
	return nil
}

type raftAddCmd struct {
	Name  string        `arg:"" help:"The new coordinator's name."`
	Out   string        `short:"o" type:"path" help:"Where to write the join file; NAME.join if not given, - for stdout."`
	Valid time.Duration `default:"1h" help:"How long the file is valid. It hands out the federation's keys: keep this short."`
}

func (c *raftAddCmd) Run(s *terminal) error {
	k, err := s.client()
	if err != nil {
		return err
	}
	if c.Out == "" {
		c.Out = c.Name + ".join"
	}
	if err := oneStdout(s, c.Out); err != nil {
		return err
	}
	text, err := k.saveJoin("/v1/raft/add", node.AddRequest{Name: c.Name, Valid: proposal.Duration(c.Valid)}, c.Out)
	if err != nil {
		return err
	}
	join, err := pki.ParseJoin(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "wrote %s, good until %s for one coordinator, which gets the federation's keys with it: hand it over privately\non the new machine: coordinator init DIR --join FILE --peer-listen :PORT --peer-address HOST:PORT --address HOST:PORT\n", written(c.Out), join.Expires.Format(time.RFC3339))
	return printDone(s, struct {
		Name  string            `json:"name"`
		File  string            `json:"file"`
		Valid proposal.Duration `json:"valid"`
	}{c.Name, c.Out, proposal.Duration(c.Valid)})
}

type raftRemoveCmd struct {
	Name string `arg:"" help:"The coordinator."`
}

func (c *raftRemoveCmd) Run(s *terminal) error {
	if _, err := ask[struct{}](s, "POST", "/v1/raft/remove/"+url.PathEscape(c.Name), nil); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, `%s is out; it still holds the federation's keys: stop it and destroy its folder
the other coordinators no longer accept anything from it. Anyone with its folder can still pass for a coordinator to sites
and to new coordinators (the CA's key) and sign results (the signing key). If somebody else may have it:
  coordinator ca new, then ca list until it names nobody, then ca retire (--force cuts off sites that are not ready)
  a new signing.key in every folder, once no study is under way
  coordinator raft peers, site list: join files and coordinators that it had made; raft remove, site invite --withdraw, site revoke
`, c.Name)
	return printDone(s, struct {
		Name string `json:"name"`
	}{c.Name})
}

type raftTransferCmd struct {
	To string `help:"The coordinator that takes the lead; any other if not given."`
}

func (c *raftTransferCmd) Run(s *terminal) error {
	if _, err := ask[struct{}](s, "POST", "/v1/raft/transfer?to="+url.QueryEscape(c.To), nil); err != nil {
		return err
	}
	return printDone(s, struct {
		To string `json:"to,omitempty"`
	}{c.To})
}

type raftSnapshotCmd struct{}

func (c *raftSnapshotCmd) Run(s *terminal) error {
	if _, err := ask[struct{}](s, "POST", "/v1/raft/snapshot", nil); err != nil {
		return err
	}
	return printDone(s, struct{}{})
}
