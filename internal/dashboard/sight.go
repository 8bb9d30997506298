package dashboard

import (
	"slices"
	"strings"
	"sync"
	"time"

	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// sight is the coordinator as one visitor may see it, and the only way in which pages see it: what
// an operator sees whole, a viewer sees without links, coordinators and logs, and of its studies
// alone.
type sight struct {
	d     *Dashboard
	whole bool // an operator's
	as    people.Person
}

func (d *Dashboard) sight(p people.Person) sight {
	return sight{d, p.Role == people.Operator, p}
}

// key returns what a rendered page is cached by: equal for visitors who see the same.
func (s sight) key() string {
	if s.whole {
		return "operator"
	}
	var b strings.Builder
	b.WriteString(string(s.as.Role))
	for _, d := range s.as.Studies {
		b.Write(d[:])
	}
	return b.String()
}

func (s sight) overview(most int) outline.Overview {
	if s.whole {
		return s.d.source.Overview(most)
	}
	o := s.d.coarse.overview(s.d)
	o.Studies = slices.DeleteFunc(slices.Clone(o.Studies), func(v outline.View) bool { return !s.as.Sees(v.Digest) })
	return o
}

// story returns a study's story; false alike for a study that does not exist and for one that the
// visitor may not see.
func (s sight) story(digest proposal.Digest) (outline.Story, bool) {
	if !s.as.Sees(digest) {
		return outline.Story{}, false
	}
	if s.whole {
		return s.d.source.Story(digest)
	}
	return s.d.coarse.story(s.d, digest)
}

// window is how long the viewers' sight stays unchanged: when a query is released tells how long
// the slowest site computes.
const window = 10 * time.Second

// coarse is what viewers see: all of it, and for all of them, of one moment in each window.
type coarse struct {
	mu      sync.Mutex
	from    time.Time // of the window
	all     outline.Overview
	stories map[proposal.Digest]outline.Story // of studies under way, and of others that were asked for
}

// look looks at the coordinator if nobody has in this window. Called with the lock held.
func (c *coarse) look(d *Dashboard) {
	from := d.now().Truncate(window)
	if from.Equal(c.from) && c.stories != nil {
		return
	}
	full := d.source.Overview(0)
	c.from, c.stories = from, map[proposal.Digest]outline.Story{}
	// Named one by one: what is new there is not a viewer's until somebody says so here.
	c.all = outline.Overview{Leading: full.Leading, Key: full.Key, CA: full.CA, Studies: make([]outline.View, 0, len(full.Studies))}
	for _, v := range full.Studies {
		c.all.Studies = append(c.all.Studies, blind(v))
		if !over(v) {
			c.tell(d, v.Digest)
		}
	}
}

// tell returns a study's story. Called with the lock held.
func (c *coarse) tell(d *Dashboard, digest proposal.Digest) (outline.Story, bool) {
	if s, ok := c.stories[digest]; ok {
		return s, true
	}
	full, ok := d.source.Story(digest)
	if !ok {
		return outline.Story{}, false
	}
	s := outline.Story{View: blind(full.View), Plan: full.Plan, Method: full.Method, X: full.X, Rounds: slices.Clone(full.Rounds)}
	for i := range s.Rounds {
		s.Rounds[i].At, s.Rounds[i].Retried = time.Time{}, 0
	}
	c.stories[digest] = s
	return s, true
}

func (c *coarse) overview(d *Dashboard) outline.Overview {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(d)
	return c.all
}

func (c *coarse) story(d *Dashboard, digest proposal.Digest) (outline.Story, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(d)
	if !slices.ContainsFunc(c.all.Studies, func(v outline.View) bool { return v.Digest == digest }) {
		return outline.Story{}, false // it was proposed since
	}
	return c.tell(d, digest)
}

// shownCodes are the codes that a viewer sees. The others say of a site's data, budget, disk or
// connection what is its operator's and the coordinator's to know; a person's or a policy's no is
// among them, or the lack of a code would say that it was none of these.
var shownCodes = []study.Code{study.CodeCompleted, study.CodeAborted, study.CodeExpired, study.CodeWithdrawn, study.CodeUnit, study.CodeColumns}

// blind returns what a viewer sees of a study's view: its terms, its releases, who decided what and
// who is awaited, in a query once its deadline has passed, not for how long.
func blind(v outline.View) outline.View {
	out := outline.View{
		Name: v.Name, Digest: v.Digest, Status: v.Status, Proposer: v.Proposer, Readers: v.Readers, Proposed: v.Proposed.Truncate(time.Minute), Ended: v.Ended.Truncate(time.Minute),
		Query: v.Query, Released: v.Released, Queries: v.Queries, Left: v.Left, Kind: v.Kind, Round: v.Round, Of: v.Of, Run: v.Run, Runs: v.Runs,
		Rounds: v.Rounds, Method: v.Method, Expires: v.Expires, Survivors: v.Survivors,
		Epsilon: v.Epsilon, Delta: v.Delta, Adjacency: v.Adjacency, Curve: v.Curve, Rho: v.Rho, RhoAsked: v.RhoAsked, RhoPlanned: v.RhoPlanned, Radius: v.Radius, NoiseToSignal: v.NoiseToSignal,
	}
	// Before the deadline of a query it would tell which sites have answered, and so how long each
	// computes: analysts are told no sooner (AN-8).
	if v.Status != round.StatusRunning || v.Overdue {
		out.Waiting = v.Waiting
	}
	if slices.Contains(shownCodes, v.Code) {
		out.Code = v.Code
	}
	for _, s := range v.Sites {
		site := outline.SiteView{Name: s.Name, Units: s.Units, Verdict: s.Verdict, Signed: s.Signed}
		if slices.Contains(shownCodes, s.Code) {
			site.Code = s.Code
		}
		out.Sites = append(out.Sites, site)
	}
	return out
}
