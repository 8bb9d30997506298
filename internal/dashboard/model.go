package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/style"
)

var templates = template.Must(style.Parts().Funcs(template.FuncMap{"short": short}).ParseFS(mustTemplates(), "template/*.html"))

func mustTemplates() embed.FS { return files }

func short(d proposal.Digest) string { return d.String()[:12] }

// moment is a time as shown: in UTC, and machine-readable for the script, which adds how
// long ago it was.
type moment struct {
	ISO, Text string
	Tell      bool // the script says how far away it is
}

func (d *Dashboard) moment(t time.Time, tell bool) *moment {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	text := t.Format("2 Jan 2006 15:04:05")
	if now := d.now().UTC(); now.Sub(t).Abs() < 20*time.Hour && t.Day() == now.Day() {
		text = t.Format("15:04:05")
	}
	return &moment{t.Format(time.RFC3339), text + " UTC", tell}
}

// dated is a time with its date, in a layout of package time; nil where it is zero.
func dated(t time.Time, layout string) *moment {
	if t.IsZero() {
		return nil
	}
	return &moment{t.UTC().Format(time.RFC3339), t.UTC().Format(layout), false}
}

// page is all that the templates see.
type page struct {
	Title   string
	AsOf    *moment
	Events  string // where the stream is
	Refresh int    // seconds, for a browser without script; 0 where nothing goes on

	// Stale says why the page may be out of date, above everything else; empty if it is not.
	Stale string
	// Whole reports whether it is an operator's: with links, coordinators and what happened.
	Whole        bool
	Tiles        []tile
	Notices      []notice
	Study        *studyModel // nil on the list of studies
	Studies      []studyRow
	Sites        []siteRow
	Followed     string // who knows the links, where this coordinator does not
	Coordinators []peerRow
	Tolerance    string
	Happenings   []happeningRow
	Key, CA      string
	Missing      bool // the study asked for is not known
}

type tile struct{ Label, Value, Note, Class string }

type notice struct {
	Class string // bad, warn or info
	Text  string
}

type studyRow struct {
	Name, Path      string
	Digest          proposal.Digest
	Status          status
	Proposed, Ended *moment
	// Ending is how it ended without a result.
	Ending   string
	Code     study.Code
	Awaited  []string
	Deadline *moment
	Expires  bool // the deadline ends the study; any other need not end the wait
	Overdue  bool
	Progress string
	Epsilon  string
}

// status of a study as shown: never by color alone.
type status struct{ Text, Class, Mark string }

func statusOf(v outline.View) status {
	switch v.Status {
	case round.StatusProposed:
		return status{"awaits approval", "wait", "◔"}
	case round.StatusSetup:
		return status{"setting up keys", "run", "◑"}
	case round.StatusRunning:
		if v.Overdue {
			return status{"waiting", "warn", "!"}
		}
		return status{"running", "run", "▶"}
	case round.StatusSigning:
		return status{"being signed", "run", "◕"}
	case round.StatusCompleted:
		return status{"completed", "good", "✓"}
	}
	return status{"ended", "bad", "✕"}
}

type siteRow struct {
	Name, Fingerprint string
	State             status
	Exchange          pki.KeyExchange
	Software          string
	Seen              *moment
	Days              string
	DaysClass         string
	Faults            int
}

type peerRow struct {
	Name, Address, Role string
	State               status
	Exchange            pki.KeyExchange
}

type happeningRow struct {
	At   *moment
	Text string
	Code study.Code
	// Where is the study's page.
	Study proposal.Digest
	About bool // it is about a study, on a page of several
	Class string
}

const (
	mostHappenings = 60
	// soon is how many days before its end a certificate is shown as ending.
	soon = 30
)

// model makes the page of a study; of the zero digest, the list of all that are in sight.
func (d *Dashboard) model(in sight, digest proposal.Digest) page {
	o, c := in.overview(10*mostHappenings), d.cluster()
	p := page{Title: "Studies · Covey", Whole: in.whole, AsOf: d.moment(d.now(), false), Events: "/events", Key: o.Key, CA: o.CA, Stale: d.stale(o, c)}
	if in.whole && !o.Leading {
		p.Followed = "the coordinator that leads"
		if c.Leader != "" && c.Leader != c.Self {
			p.Followed = "coordinator " + c.Leader
		}
		p.Notices = append(p.Notices, following(c)...)
	}
	active := 0
	for _, v := range o.Studies {
		if !over(v) {
			active++
		}
	}
	if active > 0 {
		p.Refresh = 5
	}
	if digest != (proposal.Digest{}) {
		p.Events += "?study=" + digest.String()
		s, ok := in.story(digest)
		if !ok {
			p.Missing = true
			return p
		}
		p.Study, p.Title = d.study(in, s, o), s.Name+" · Covey"
		p.Notices = append(p.Notices, studyNotices(s)...)
		o.Happenings = slices.DeleteFunc(o.Happenings, func(h outline.Happening) bool { return h.Study != digest })
		d.happenings(&p, o)
		return p
	}
	for _, v := range o.Studies {
		p.Studies = append(p.Studies, d.row(in, v, o))
	}
	if !in.whole {
		return p
	}
	p.Tiles = append(p.Tiles, tile{"Studies", strconv.Itoa(active), fmt.Sprintf("under way, %d in all", len(o.Studies)), ""})
	d.sites(&p, o)
	d.peers(&p, o, c)
	d.happenings(&p, o)
	return p
}

// over reports whether nothing more happens in a study.
func over(v outline.View) bool {
	return v.Status == round.StatusCompleted || v.Status == round.StatusEnded
}

// row is a study in the list: dates and state, and of one under way who is awaited.
func (d *Dashboard) row(in sight, v outline.View, o outline.Overview) studyRow {
	row := studyRow{
		Name: v.Name, Path: "/studies/" + v.Digest.String(), Digest: v.Digest, Status: statusOf(v), Code: v.Code,
		Proposed: dated(v.Proposed, "2 Jan 2006"), Ended: dated(v.Ended, "2 Jan 2006"), Progress: fmt.Sprintf("%d of %d queries", v.Released, v.Queries), Epsilon: number(v.Epsilon),
	}
	if v.Status == round.StatusEnded {
		row.Ending = meaning(v.Code).Means
		if who := v.Blame(); who != "" {
			row.Ending = who + ": " + row.Ending
		}
	}
	if !over(v) && o.Leading {
		row.Awaited, row.Deadline, row.Overdue = waiting(in, v, o), d.moment(v.Deadline, true), v.Overdue
		if v.Status == round.StatusProposed {
			row.Deadline, row.Expires = d.moment(v.Expires, true), true
		}
	}
	return row
}

// A follower hears from its leader several times a second. What it shows is stale after mostSilent,
// or while it knows of more than mostBehind entries that it does not show yet.
const (
	mostSilent = 5 * time.Second
	mostBehind = 100
)

// stale returns why what is shown may be out of date, or "".
func (d *Dashboard) stale(o outline.Overview, c Cluster) string {
	if o.Leading || c.Self == "" {
		return ""
	}
	if c.Heard.IsZero() {
		return "This coordinator has heard from no leader since it started: it shows what it had stored before, which may be out of date."
	}
	if now := d.now(); now.Sub(c.Heard) > mostSilent {
		return fmt.Sprintf("This coordinator last heard from a leader at %s: what it shows may be out of date.", d.moment(c.Heard, false).Text)
	}
	if c.Behind > mostBehind {
		return fmt.Sprintf("This coordinator has %d entries of the log still to read: what it shows is out of date.", c.Behind)
	}
	return ""
}

// following says who leads instead of this coordinator.
func following(c Cluster) []notice {
	if c.Leader == "" || c.Leader == c.Self {
		return []notice{{"bad", "No coordinator leads as far as this one knows. Studies wait until most of the coordinators see each other."}}
	}
	return []notice{{"info", fmt.Sprintf("Coordinator %s leads; this is coordinator %s. Studies, rounds and events are the same here; links, deadlines and who is awaited are on the leader's page.", c.Leader, c.Self)}}
}

func role(leads bool, c Cluster) string {
	switch {
	case leads:
		return "leads"
	case c.Leader == "" || c.Leader == c.Self:
		return "knows no leader"
	}
	return "follows " + c.Leader
}

func (d *Dashboard) sites(p *page, o outline.Overview) {
	connected, joined := 0, 0
	for _, s := range o.Sites {
		row := siteRow{Name: s.Name, Fingerprint: s.Fingerprint, Software: s.Software, Seen: d.moment(s.At, true), Days: "–"}
		for _, n := range s.Faults {
			row.Faults += n
		}
		switch {
		case s.Revoked:
			row.State = status{"revoked", "bad", "✕"}
		case !o.Leading:
			row.State = status{"joined", "wait", "○"}
		case s.BrokenChain:
			row.State = status{"broken chain", "bad", "✕"}
			p.Notices = append(p.Notices, notice{"bad", fmt.Sprintf("%s kept another chain of the coordinators' log, and answers no query. After a restored backup see docs/operations.md; otherwise suspect a second coordinator.", s.Name)})
		case s.Refused != "":
			row.State = status{"refused", "bad", "✕"}
			p.Notices = append(p.Notices, notice{"bad", fmt.Sprintf("%s is refused: %s.", s.Name, s.Refused)})
		case s.Late:
			row.State = status{"late", "warn", "!"}
		case s.Connected:
			row.State = status{"connected", "good", "●"}
		default:
			row.State = status{"away", "bad", "○"}
		}
		if !s.Revoked {
			joined++
			if s.Connected {
				connected++
				row.Exchange = s.KeyExchange
			}
			if row.Exchange.Weak() {
				p.Notices = append(p.Notices, weak("The link of "+s.Name, row.Exchange))
			}
		}
		if o.Leading && !s.Expires.IsZero() { // who led before knows of no renewal since
			days := daysLeft(s.Expires, d.now())
			row.Days = strconv.Itoa(days)
			if days < soon && !s.Revoked {
				row.DaysClass = "warn"
				p.Notices = append(p.Notices, certificateNotice(s.Name, days))
			}
		}
		p.Sites = append(p.Sites, row)
	}
	t := tile{"Sites", fmt.Sprintf("%d of %d", connected, joined), "connected", ""}
	switch {
	case !o.Leading:
		t.Value, t.Note = strconv.Itoa(joined), "joined; "+p.Followed+" knows their links"
	case connected < joined:
		t.Class = "warn"
	case joined == 0:
		t.Value, t.Note = "none", "`coordinator site invite` makes join files"
	}
	p.Tiles = append(p.Tiles, t)
	if days := daysLeft(o.Expires, d.now()); days < soon {
		p.Notices = append(p.Notices, notice{"warn", fmt.Sprintf("This coordinator's own certificate ends in %s and was not renewed: read its log.", count(days, "day"))})
	}
}

// certificateNotice warns that a site's certificate ends, or has ended, after which the site cannot
// come back by itself.
func certificateNotice(site string, days int) notice {
	if days < 0 {
		return notice{"bad", fmt.Sprintf("The certificate of %s that this coordinator last saw has ended. Unless another coordinator has renewed it, %s cannot connect: give it a file of `coordinator site invite %s --again`.", site, site, site)}
	}
	return notice{"warn", fmt.Sprintf("The certificate of %s ends in %s; its agent renews it while it is connected.", site, count(days, "day"))}
}

// weak warns that a quantum computer can open what was recorded of a link.
func weak(link string, k pki.KeyExchange) notice {
	return notice{"warn", fmt.Sprintf("%s is not quantum-safe: its key exchange is %s. Take tlsmlkem=0 out of GODEBUG at both ends, or upgrade the older one; quantum_safe_links refuses such links.", link, k.Group)}
}

func (d *Dashboard) peers(p *page, o outline.Overview, c Cluster) {
	t := tile{Label: "Coordinator " + c.Self, Value: role(o.Leading, c)}
	left := c.Tolerates()
	switch {
	case len(c.Peers) < 2:
		t.Note, p.Tolerance = "alone: studies pause while it is down", "It is alone: studies pause while it is down, and go on after."
	case left < 0:
		t.Class, t.Note = "bad", fmt.Sprintf("most of %d are not reached", len(c.Peers))
		p.Tolerance = "Most of them are not reached: studies wait until most see each other. Nothing is lost, and nothing more can be spent."
		p.Notices = append(p.Notices, notice{"bad", p.Tolerance})
	case left == 0:
		t.Class, t.Note = "warn", fmt.Sprintf("of %d, and no more may fail", len(c.Peers))
		p.Tolerance = "No more may fail: with one fewer, studies wait."
		if len(c.Peers) > 2 {
			p.Notices = append(p.Notices, notice{"warn", "Not reached: coordinator " + strings.Join(c.unreached(), ", ") + ". No more may fail: with one fewer, studies wait."})
		}
	default:
		t.Note = fmt.Sprintf("one of %d, of which %d may fail", len(c.Peers), left)
		p.Tolerance = fmt.Sprintf("%d more may fail, and studies go on.", left)
	}
	for _, peer := range c.Peers {
		row := peerRow{Name: peer.Name, Address: peer.Address, Role: "follows", State: status{"reached", "good", "●"}}
		switch {
		case peer.Name == c.Leader || peer.Name == c.Self && o.Leading:
			row.Role = "leads"
		case !peer.Voter:
			row.Role = "does not vote yet"
		}
		if row.Exchange = peer.KeyExchange; row.Exchange.Weak() {
			p.Notices = append(p.Notices, weak("The link with coordinator "+peer.Name, row.Exchange))
		}
		if peer.Name == c.Self {
			row.State.Text = "this one"
		} else if !peer.Reached {
			row.State = status{"not reached", "bad", "○"}
		}
		p.Coordinators = append(p.Coordinators, row)
	}
	p.Tiles = append(p.Tiles, t)
}

func (d *Dashboard) happenings(p *page, o outline.Overview) {
	names := map[proposal.Digest]string{}
	for _, v := range o.Studies {
		names[v.Digest] = v.Name
	}
	for _, h := range o.Happenings {
		text := say(h)
		if text == "" || len(p.Happenings) == mostHappenings {
			continue
		}
		row := happeningRow{At: d.moment(h.At, false), Text: text, Code: h.Code, Study: h.Study, About: names[h.Study] != "" && p.Study == nil}
		switch h.Kind {
		case outline.HappenedFault, outline.HappenedDisconnected, string(round.EntryAbandoned):
			row.Class = "warn"
		case string(round.EntryEnded), outline.HappenedRevoked:
			row.Class = "bad"
		case outline.HappenedCompleted:
			row.Class = "good"
		}
		p.Happenings = append(p.Happenings, row)
	}
}

// say returns a line of the log; "" for what only the strip of rounds shows.
func say(h outline.Happening) string {
	who := h.Site
	if h.Node != "" {
		who = "coordinator " + h.Node
	}
	if h.Analyst != "" {
		who = "analyst " + h.Analyst
	}
	switch h.Kind {
	case string(round.EntryProposed):
		return "the study was proposed"
	case string(round.EntryDecided):
		if h.Code == study.CodeWithdrawn {
			return who + " took its approval back"
		}
		return who + " " + string(h.Verdict) + " it"
	case string(round.EntryPrepared):
		return "all sites signed the setup; queries begin"
	case string(round.EntryAbandoned):
		return fmt.Sprintf("query %d: slot %d was given up; it is asked again", h.Query+1, h.Slot)
	case string(round.EntryEnded):
		switch {
		case h.Code == study.CodeExpired:
			return "the study expired before every site had approved it"
		case h.Code == study.CodeRetracted:
			return "the analyst who proposed the study took it back"
		case h.Accuser != "":
			return "the study ended: " + h.Blame()
		case who != "":
			return "the study ended, because of " + who
		}
		return "the study ended"
	case outline.HappenedCompleted:
		return "the study is complete"
	case outline.HappenedInvited:
		return "a join file was made for " + who
	case outline.HappenedJoined, outline.HappenedEntered, outline.HappenedConnected, outline.HappenedDisconnected:
		return who + " " + h.Kind
	case outline.HappenedRevoked, outline.HappenedRemoved:
		return who + " was " + h.Kind
	case outline.HappenedFault:
		return fmt.Sprintf("query %d: a message from %s failed a check and was dropped", h.Query+1, who)
	case outline.HappenedLeads:
		return "this coordinator leads"
	case outline.HappenedFollows:
		return "this coordinator no longer leads"
	}
	return ""
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// page serves the page about the study that the path names, or the list.
func (d *Dashboard) page(w http.ResponseWriter, r *http.Request, v visitor) {
	var digest proposal.Digest
	if text := r.PathValue("digest"); text != "" {
		var err error
		if digest, err = proposal.ParseDigest(text); err != nil {
			http.NotFound(w, r)
			return
		}
	}
	c, err := d.main(d.sight(v.Person), digest)
	if err != nil {
		d.log.Error("dashboard: the page does not render", "error", err)
		http.Error(w, "the page does not render; the log says why", http.StatusInternalServerError)
		return
	}
	code := http.StatusOK
	switch {
	case c.page.Missing:
		code = http.StatusNotFound
	case c.page.Study != nil:
		d.read(v, "study", digest)
	default:
		d.read(v, "list", digest)
	}
	d.render(w, code, "page", struct {
		page
		Main   template.HTML // rendered by the same templates
		User   string
		Logout bool
	}{c.page, template.HTML(c.main), v.Name, v.cookie != ""})
}

func (d *Dashboard) render(w http.ResponseWriter, code int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	if err := templates.ExecuteTemplate(w, name, data); err != nil {
		d.log.Debug("dashboard: a page was not sent whole", "error", err)
	}
}

// daysLeft are whole days until a certificate's end, as internal/pki counts them.
func daysLeft(end, now time.Time) int { return int(math.Floor(end.Sub(now).Hours() / 24)) }
