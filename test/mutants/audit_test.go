//go:build mutants

package mutants

// What a second look at the closed attacks found.
func init() {
	tables = append(tables, []mutant{
		{"a proposal's unknown keys are left to the decoder", 0, []edit{
			{"internal/proposal/spec.go", "onlyKnown(text, reflect.TypeOf(into)); err != nil", "onlyKnown(text, reflect.TypeOf(into)); false && err != nil"},
		}, in("proposal", "TestUnknownKeysAreCheap"), killer{}},
		{"a proposal's lists have no bound before it is decoded", 0, []edit{
			{"internal/proposal/known.go", "marks > maxMarks {", "marks > 100*maxMarks {"},
		}, in("proposal", "TestListsAreBounded"), killer{}},
		{"the log repeats all of a refused proposal's words", 0, []edit{
			{"internal/agent/sessions.go", "errors.New(frame.Cleaned(err.Error()))", "errors.New(frame.Cleaned(\"\") + err.Error())"},
		}, in("agent", "TestRefusedProposalsAreShortInTheLog"), killer{}},
		{"a coordinator believes another's list for good", 0, []edit{
			{"internal/node/members.go", "				m.unhear()\n", ""},
		}, in("node", "TestHearsayIsForgotten"), killer{}},
		{"proposals that wait have no bound together", 0, []edit{
			{"internal/proposals/pending.go", "len(all) >= maxPending || total > maxPendingBytes", "len(all) >= maxPending || total < 0"},
		}, in("proposals", "TestPendingProposalsAreBounded"), killer{}},
		{"names of a certificate that nobody vouched for are shown raw", 0, []edit{
			{"internal/enroll/handshake.go", "frame.Cleaned(e.Err.Error())", "e.Err.Error()"},
		}, in("enroll", "TestCertificatesNamesArePrintable"), killer{}},
		{"names of a false certificate reach who joins raw", 0, []edit{
			{"internal/pki/errors.go", "			if !strconv.IsPrint(r) {\n", "			if !strconv.IsPrint(r) && false {\n"},
		}, in("pki", "TestJoinersErrorsArePrintable"), killer{}},
		{"keys of somebody else's file are shown raw", 0, []edit{
			{"internal/strict/strict.go", "			return strconv.Quote(key)\n", "			return key + strconv.Quote(\"\")[2:]\n"},
		}, in("result", "TestKeysOfOthersArePrintable"), killer{}},
	})
}
