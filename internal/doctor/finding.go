package doctor

import (
	"cmp"

	"covey/internal/enroll"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// Code names what a line of `agent check` is about: stable, for scripts and for docs/commands.md.
type Code string

// The codes of `agent check`. A line that is in order has the code of what it looked at.
const (
	CheckConfig       Code = "config"
	CheckData         Code = "data"
	CheckNoData       Code = "no_data"
	CheckPolicy       Code = "policy"
	CheckNotify       Code = "notify"
	CheckColumns      Code = "data_columns"
	CheckUnits        Code = "data_units"
	CheckFaults       Code = "data_faults"
	CheckStudyFile    Code = "study_file"
	CheckDryRun       Code = "dry_run"
	CheckMemory       Code = "memory"
	CheckBudget       Code = "budget"
	CheckFolder       Code = "folder"
	CheckKeys         Code = "keys"
	CheckNotJoined    Code = "not_joined"
	CheckOtherSite    Code = "other_site"
	CheckEnded        Code = "certificate_days"
	CheckName         Code = "name_resolution"
	CheckProxy        Code = "proxy"
	CheckProxyAuth    Code = "proxy_login"
	CheckProxyRefused Code = "proxy_refused"
	CheckTCP          Code = "tcp"
	CheckRefused      Code = "tcp_refused"
	CheckTimeout      Code = "tcp_timeout"
	CheckTLS          Code = "tls"
	CheckNotTLS       Code = "not_tls"
	CheckInspected    Code = "tls_inspected"
	CheckKeyExchange  Code = "key_exchange"
	CheckWrongCA      Code = "wrong_ca"
	CheckWrongName    Code = "wrong_name"
	CheckServerEnded  Code = "coordinator_certificate_ended"
	CheckClockBehind  Code = "clock_behind"
	CheckClock        Code = "clock"
	CheckRefusedSite  Code = "site_refused"
	CheckVersion      Code = "versions"
	CheckNoAnswer     Code = "no_answer"
	CheckChanged      Code = "data_changed"
	CheckLink         Code = "link"
	CheckChain        Code = "chain"
)

// remedies say what to do where a line is not in order.
var remedies = map[Code]string{
	CheckConfig:       "fix the named key in agent.toml",
	CheckData:         "fix the file at the named line, or [[dataset]] in agent.toml; agent data profile DATASET shows all faults",
	CheckNoData:       "add [[population]] and [[dataset]] to agent.toml",
	CheckPolicy:       "take \"central\" out of policy.noise, unless this site trusts the coordinator's operator with exact sums",
	CheckNotify:       "make the key with: head -c 32 /dev/urandom > FILE; chmod 600 FILE; or name a program that this user may run",
	CheckColumns:      "fix the file at the named place, or ask the analyst to change the study",
	CheckFaults:       "agent data profile DATASET --study FILE: shows all, with lines for agent.toml",
	CheckUnits:        "compare these columns' unit of measurement, and their missing values, with what the analyst expects",
	CheckStudyFile:    "ask the sender of the file for another one",
	CheckDryRun:       "ask the analyst: the study does not fit this data set",
	CheckMemory:       "run the agent where more memory is free; precision = \"float32\" in agent.toml halves the rows, and cache = \"study\" keeps them in a file",
	CheckFolder:       "run agent check as the agent's user; make that user the owner of the folder and all in it (chown -R), on a writable file system with free space (df, df -i)",
	CheckKeys:         "put the key files back from a backup, mode 0600; without identity.key the site must join as a new one",
	CheckNotJoined:    "agent join FILE, with a join file from the coordinator's operator",
	CheckOtherSite:    "set site in agent.toml to the certificate's name, or data to the right folder",
	CheckEnded:        "if this machine's clock is right, ask for a join file of `coordinator site invite SITE --again`, then agent join FILE -o DIR --again",
	CheckName:         "check the name in agent.toml and this machine's DNS; behind a proxy set HTTPS_PROXY",
	CheckProxy:        "check HTTPS_PROXY: http://HOST:PORT of a proxy that this machine reaches",
	CheckProxyAuth:    "put the proxy's user and password into HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT",
	CheckProxyRefused: "ask the proxy's administrator to allow CONNECT to the coordinator's host and port",
	CheckTCP:          "check the network of this machine; ask for the route to the coordinator",
	CheckRefused:      "check the port in agent.toml; ask the coordinator's operator whether it is running",
	CheckTimeout:      "ask the firewall's administrator to allow outgoing TCP to the coordinator's host and port",
	CheckTLS:          "try again; if it persists, ask the network's administrator what is in between",
	CheckNotTLS:       "something else answers there: check host and port in agent.toml",
	CheckInspected:    "ask the network's administrator to exempt the coordinator's host and port from TLS inspection",
	CheckKeyExchange:  "take tlsmlkem=0 out of GODEBUG here and at the coordinator, or upgrade the older program; what is recorded of this link can be opened by a later quantum computer",
	CheckWrongCA:      "compare the fingerprint with the coordinator's operator; if it changed its CA, ask for a join file with --again",
	CheckWrongName:    "use one of the names that the certificate is for in agent.toml, or ask the coordinator's operator to add this one to addresses",
	CheckServerEnded:  "check this machine's clock; if it is right, ask the coordinator's operator to read its log: it renews by itself, unless its folder cannot be written or its CA ends",
	CheckClockBehind:  "set this machine's clock (NTP)",
	CheckClock:        "set this machine's clock (NTP), or tell the coordinator's operator that theirs is wrong",
	CheckRefusedSite:  "ask the coordinator's operator whether this site was revoked; then a new join file is needed",
	CheckVersion:      "upgrade the side that is behind",
	CheckChanged:      "put the approved file or table, and its part of agent.toml, back, and see that the agent can read it (of a database, that its server runs): a running study asks again within a minute; or reject the study at this site",
	CheckLink:         "the agent tries again by itself; if it persists, read its log",
	CheckChain:        "call the coordinator's operator: if a backup was restored, compare the heads of agent chain show, then agent chain accept HEAD; otherwise keep this agent's log",
	CheckNoAnswer:     "try again; if it persists, compare clocks with the coordinator's operator, whose log has more",
}

// Finding is one thing that Check looked at.
type Finding struct {
	Code   Code   `json:"code"`
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Result string `json:"result"`
	Do     string `json:"what_to_do,omitempty"`
	// Warning is set where nothing failed and a person should look: OK is true then.
	Warning bool `json:"warning,omitempty"`
	// Figures describe this site's own rows, in the line of CheckColumns only. They stay at the
	// site.
	Figures *sitedata.Figures `json:"figures,omitempty"`
	// Plan is the study's, of made-up other sites if a study.toml was checked: of the line of
	// CheckDryRun alone, nil where there is none.
	Plan *study.Plan `json:"-"`
	Err  error       `json:"-"` // nil if OK
}

// found makes a line: in order, or with the code's remedy.
func found(code Code, check, detail string, err error) Finding {
	f := Finding{Code: code, Check: check, OK: err == nil, Result: detail, Err: err}
	if err != nil {
		f.Result, f.Do = enroll.Plain(err), cmp.Or(hint(code, err), remedies[code])
	}
	return f
}

// Warned makes a line where nothing failed, and a person should look.
func Warned(code Code, check, result string) Finding {
	return Finding{Code: code, Check: check, OK: true, Warning: true, Result: result, Do: remedies[code]}
}
