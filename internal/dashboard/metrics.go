package dashboard

import (
	"maps"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"covey/internal/frame"
	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// metric is one of docs/metrics.md. None says anything about data: counts, times, codes
// and the budget, all of them public.
type metric struct {
	desc   *prometheus.Desc
	value  prometheus.ValueType
	name   string
	labels []string
	help   string
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("covey_"+name, help, labels, nil), prometheus.GaugeValue, "covey_" + name, labels, help}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("covey_"+name, help, labels, nil), prometheus.CounterValue, "covey_" + name, labels, help}
}

var (
	mLeading   = gauge("coordinator_leading", "1 on the leader, 0 on others.")
	mLeader    = gauge("coordinator_knows_leader", "1 if this coordinator knows the leader.")
	mVoters    = gauge("coordinators", "Voting coordinators.")
	mReached   = gauge("coordinators_reached", "Voting coordinators that this one reaches, itself included.")
	mTolerates = gauge("coordinators_may_fail", "How many more may fail before studies wait; -1 if most are out of reach.")
	mServer    = gauge("coordinator_certificate_end_timestamp_seconds", "End of this coordinator's certificate.")
	mRefused   = counter("links_not_quantum_safe_refused_total", "Callers refused by quantum_safe_links.")
	mStreams   = gauge("dashboard_streams", "Open pages that update themselves.")

	mSiteConnected = gauge("site_connected", "1 if the site has a link here; leader only.", "site")
	mSiteSafe      = gauge("site_quantum_safe", "1 if the site's link is quantum-safe; connected sites, leader only.", "site")
	mSiteLate      = gauge("site_late", "1 if a study waits for the site past its deadline; leader only.", "site")
	mSiteChain     = gauge("site_chain_broken", "1 if the site kept another chain of the log and answers no query; connected sites, leader only.", "site")
	mSiteSeen      = gauge("site_last_message_timestamp_seconds", "Time of the site's last message here.", "site")
	mSiteEnd       = gauge("site_certificate_end_timestamp_seconds", "End of the certificate that the site last showed here.", "site")
	mSiteFaults    = counter("site_faults_total", "Messages that failed a check, by code (docs/errors.md).", "site", "code")

	mStudies       = gauge("studies", "Studies by status.", "status")
	mStudyReleased = gauge("study_queries_released", "Queries that have their answer.", "study", "name")
	mStudyLeft     = gauge("study_queries_left", "Queries still to be released, at most; 0 once the study is over.", "study", "name")
	mStudyOverdue  = gauge("study_overdue", "1 if the open query's deadline has passed; leader only.", "study", "name")
	mStudyAwaited  = gauge("study_sites_awaited", "Sites without which the study cannot go on now; leader only.", "study", "name")
	mStudyRetried  = gauge("study_slots_given_up", "Slots of one-time keys given up: retries.", "study", "name")
	mStudySites    = gauge("study_survivors", "Sites in the last released sum.", "study", "name")
	mStudyEpsilon  = gauge("study_epsilon", "ε at the study's δ, when one unit is replaced, planned and charged at most.", "study", "name", "what")
	mStudyRho      = gauge("study_rho", "ρ, planned and charged at most.", "study", "name", "what")

	all = []metric{
		mLeading, mLeader, mVoters, mReached, mTolerates, mServer, mRefused, mStreams, mSiteConnected, mSiteSafe, mSiteLate, mSiteChain, mSiteSeen, mSiteEnd, mSiteFaults,
		mStudies, mStudyReleased, mStudyLeft, mStudyOverdue, mStudyAwaited, mStudyRetried, mStudySites, mStudyEpsilon, mStudyRho,
	}
)

// faultCodes are all that a dropped message has.
var faultCodes = []study.Code{study.CodeBadShare, study.CodeBadConfirmation, study.CodeBadCertificate, study.CodePlanMismatch, study.CodeHeld, study.CodeBadRefusal,
	study.CodeBadBox, study.CodeWrongDeposit, study.CodeBadAnnouncement, study.CodeBadResult, study.CodeFinal, study.CodeNotApproved}

// overStudies is how many studies that are over keep their series.
const overStudies = 10

// collector reads the coordinator when it is scraped.
type collector struct{ d *Dashboard }

// registry returns this dashboard's metrics, since a process can hold several, and those of the
// runtime and the process from the library's default registry: making them anew would link
// database/sql.
func (d *Dashboard) registry() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{d}, buildInfo())
	return prometheus.Gatherers{r, prometheus.DefaultGatherer}
}

// buildInfo is covey_build_info: the version that --version prints, and the commit that the
// toolchain noted.
func buildInfo() prometheus.Collector {
	version, revision := frame.Release(), "unknown"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "covey_build_info", Help: "1, labeled with what was built."}, []string{"version", "revision"})
	g.WithLabelValues(version, revision).Set(1)
	return g
}

// Describe is prometheus.Collector's.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range all {
		out <- m.desc
	}
}

// Collect is prometheus.Collector's.
func (c collector) Collect(out chan<- prometheus.Metric) {
	put := func(m metric, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(m.desc, m.value, v, labels...)
	}
	o, cluster := c.d.source.Overview(0), c.d.cluster()
	put(mLeading, one(o.Leading))
	put(mLeader, one(o.Leading || cluster.Leader != "" && cluster.Leader != cluster.Self))
	voters, reached := 0, 0
	for _, p := range cluster.Peers {
		if p.Voter {
			voters++
			reached += int(one(p.Reached))
		}
	}
	put(mVoters, float64(voters))
	put(mReached, float64(reached))
	put(mTolerates, float64(cluster.Tolerates()))
	put(mServer, float64(o.Expires.Unix()))
	put(mRefused, float64(o.Refused))
	put(mStreams, float64(c.d.streams.count()))
	for _, s := range o.Sites {
		if s.Revoked {
			continue
		}
		if o.Leading {
			put(mSiteConnected, one(s.Connected), s.Name)
			put(mSiteLate, one(s.Late), s.Name)
			if s.Connected {
				put(mSiteSafe, one(s.KeyExchange.QuantumSafe), s.Name)
				put(mSiteChain, one(s.BrokenChain), s.Name)
			}
		}
		if !s.At.IsZero() {
			put(mSiteSeen, float64(s.At.Unix()), s.Name)
		}
		if !s.Expires.IsZero() {
			put(mSiteEnd, float64(s.Expires.Unix()), s.Name)
		}
		faults := map[study.Code]int{}
		for _, code := range faultCodes { // from 0 on, so that the first one is an increase
			faults[code] = 0
		}
		maps.Copy(faults, s.Faults)
		for code, n := range faults {
			put(mSiteFaults, float64(n), s.Name, string(code))
		}
	}
	studies := map[round.Status]int{round.StatusProposed: 0, round.StatusSetup: 0, round.StatusRunning: 0, round.StatusSigning: 0, round.StatusCompleted: 0, round.StatusEnded: 0}
	over := 0
	for _, v := range o.Studies {
		studies[v.Status]++
		if v.Status == round.StatusCompleted || v.Status == round.StatusEnded {
			if over++; over > overStudies {
				continue
			}
		}
		c.study(put, v, o.Leading)
	}
	for status, n := range studies {
		put(mStudies, float64(n), string(status))
	}
}

func (c collector) study(put func(metric, float64, ...string), v outline.View, leading bool) {
	id := v.Digest.String()
	of := func(m metric, value float64, more ...string) { put(m, value, append([]string{id, v.Name}, more...)...) }
	of(mStudyReleased, float64(v.Released))
	of(mStudyLeft, float64(v.Left))
	of(mStudyRetried, float64(max(0, v.Slot-v.Released)))
	of(mStudySites, float64(v.Survivors))
	of(mStudyEpsilon, v.Epsilon, "planned")
	rho, _ := v.Charged()
	of(mStudyEpsilon, charged(rho, v), "charged")
	of(mStudyRho, v.RhoPlanned, "planned")
	of(mStudyRho, rho, "charged")
	if leading {
		of(mStudyOverdue, one(v.Overdue))
		of(mStudyAwaited, float64(len(v.Waiting)))
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
