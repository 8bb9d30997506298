//go:build mutants

package mutants

// Of notices to people.
func init() {
	const send, notifier, target, queue = "internal/notify/send.go", "internal/notify/notifier.go", "internal/notify/target.go", "internal/notify/queue.go"
	tables = append(tables, []mutant{
		{"notify: redirects are followed", 0, []edit{
			{send, "func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }", "nil"},
		}, in("notify", "TestRedirectIsNotFollowed"), killer{}},
		{"notify: a cloud's metadata can be reached", 0, []edit{
			{send, "ip.IsLinkLocalUnicast() || ", ""},
		}, in("notify", "TestReachable"), killer{}},
		{"notify: an address in other words is not seen", 0, []edit{
			{send, "at.Addr().Unmap()", "at.Addr()"},
		}, in("notify", "TestReachable"), killer{}},
		{"notify: the dialed address is not looked at", 0, []edit{
			{send, ", Control: reachable}", "}"},
		}, in("notify", "TestReachable"), killer{}},
		{"notify: a command has the agent's environment", 0, []edit{
			{send, "[]string{\"PATH=/usr/bin:/bin\"}", "nil"},
		}, in("notify", "TestCommand"), killer{}},
		{"notify: the signature leaves out the id", 0, []edit{
			{send, "\"%d.%s.\", seconds, id", "\"%d..\", seconds"},
		}, in("notify", "TestSignature"), killer{}},
		{"notify: names are always told", 0, []edit{
			{notifier, "if t.Names {", "if true {"},
		}, in("notify", "TestNoticeIsTriedForADay"), killer{}},
		{"notify: the whole digest is told", 0, []edit{
			{notifier, "f.Study[:min(shown, len(f.Study))]", "f.Study"},
		}, in("notify", "TestNoticeIsTriedForADay"), killer{}},
		{"notify: it is tried for ever", 0, []edit{
			{notifier, "w.Failed > len(tries)", "w.Failed < 0"}, {notifier, "tries[w.Failed-1]", "tries[min(w.Failed, len(tries))-1]"},
		}, in("notify", "TestNoticeIsTriedForADay"), killer{}},
		{"notify: what is long over is news", 0, []edit{
			{notifier, "!told && !old", "!told && (!old || true)"},
		}, in("notify", "TestFirstFacts"), killer{}},
		{"notify: a follower tells too", 0, []edit{
			{notifier, "(tell || f.Study == \"\")", "(tell || true)"},
		}, in("notify", "TestFollowerTellsNothing"), killer{}},
		{"notify: a notice leaves before it is on disk", 0, []edit{
			{notifier, "if changed && !n.save() {", "if changed && !n.save() && false {"},
		}, in("notify", "TestNothingLeavesUnsaved"), killer{}},
		{"notify: any number waits", 0, []edit{
			{notifier, "kept[w.Target] >= most", "false"},
		}, in("notify", "TestQueueIsBounded"), killer{}},
		{"notify: a dead target fills the queue", 0, []edit{
			{notifier, "maxQueued/len(targets)", "maxQueued"},
		}, in("notify", "TestDeadTargetCostsOthersNothing"), killer{}},
		{"notify: plain http to anywhere", 0, []edit{
			{target, "case !isLoopback(u.Hostname()):", "case false:"},
		}, in("notify", "TestCheck"), killer{}},
		{"notify: a key that others may read", 0, []edit{
			{target, "info.Mode().Perm()&0o077 != 0", "false"},
		}, in("notify", "TestKeyFile"), killer{}},
		{"notify: a queue's counts are not looked at", 0, []edit{
			{queue, "w.Failed < 0 || ", ""},
		}, in("notify", "TestDamagedQueue"), killer{}},
		{"notify: the egress log has no notices", 0, []edit{
			{"internal/agent/notify.go", "\t\t\treturn a.egress.Record(line.Of(body), a.now())\n", "\t\t\t_ = line\n\t\t\treturn nil\n"},
		}, in("agent", "TestNoticeIsInEgressLog"), killer{}},
	})
}
