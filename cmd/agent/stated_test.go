package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/dataset"
	"covey/internal/doctor"
	"covey/internal/proposal"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// TestProposersWordsOnScreen: an approver sees the proposer's words quoted, after everything that
// was computed, under a title that says whose they are.
func TestProposersWordsOnScreen(t *testing.T) {
	plan := &study.Plan{}
	plan.Proposal.Spec.About = proposal.About{Purpose: "Approved by your DPO", Ethics: "none"}
	plan.Proposal.Spec.Columns = []proposal.Column{{Name: "age", Scale: 1, Measure: "years", Range: []float64{0, 120}}, {Name: "bmi", Scale: 1}}
	d := agent.StudyDetail{StudyView: agent.StudyView{Name: "s", State: "pending"}, Plan: plan, Warnings: []string{"the last warning"}}
	var out bytes.Buffer
	printStudy(&out, d)
	screen := out.String()
	title := strings.LastIndex(screen, "\nWritten by the coordinator's operator, not checked\n")
	if title < strings.Index(screen, "the last warning") || !strings.HasSuffix(screen, "\n  purpose: \"Approved by your DPO\"\n  ethics: \"none\"\n") {
		t.Errorf("the words are not last:\n%s", screen)
	}
	for _, part := range []string{"MEASURE*", `"years"`, "0 to 120", "* " + proposal.StatementsTitle} {
		if !strings.Contains(screen, part) {
			t.Errorf("no %q in\n%s", part, screen)
		}
	}
	// beside this site's own figures
	low, high := 20.0, 90.0
	d.Figures = &sitedata.Figures{Columns: []sitedata.ColumnFigure{{Name: "age", Scale: 1, Median: 50, Low: &low, High: &high, Measure: "years", Range: []float64{0, 120}}}}
	out.Reset()
	printStudy(&out, d)
	if screen := out.String(); !strings.Contains(screen, "20 to 90") || !strings.Contains(screen, `"years"   0 to 120`) {
		t.Errorf("no figures beside the proposer's:\n%s", screen)
	}
	// dates are shown as dates
	low, high = 60, 90
	d.Figures.Columns[0] = sitedata.ColumnFigure{Name: "seen", Since: "2020-01-01", Offset: 31, Scale: 365, Median: 72, Spread: 1, Low: &low, High: &high, Range: []float64{0, 366}}
	out.Reset()
	printStudy(&out, d)
	if screen := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(screen, "seen 2020-02-01 365 days 2020-03-13 1 day 2020-03-01 to 2020-03-31 2020-01-01 to 2021-01-01") {
		t.Errorf("dates are not dates:\n%s", out.String())
	}
	// and none of it where nothing was written
	plan.Proposal.Spec.About, plan.Proposal.Spec.Columns[0] = proposal.About{}, proposal.Column{Name: "age", Scale: 1}
	d.Figures = nil
	out.Reset()
	printStudy(&out, d)
	if strings.Contains(out.String(), "not checked") || strings.Contains(out.String(), "MEASURE") {
		t.Errorf("words of nobody:\n%s", out.String())
	}
}

// TestWarningsAreInOneColumn: with the proposer's words shown, the warning of a column of levels
// stands below that of a column of numbers.
func TestWarningsAreInOneColumn(t *testing.T) {
	low, high := 20.0, 90.0
	odd := []string{"looks odd"}
	var out bytes.Buffer
	printFigures(&out, sitedata.Figures{Columns: []sitedata.ColumnFigure{
		{Name: "age", Scale: 1, Median: 50, Low: &low, High: &high, Measure: "years", Range: []float64{0, 120}, Warnings: odd},
		{Name: "sex", Levels: 2, Warnings: odd},
	}})
	var at []int
	for line := range strings.Lines(out.String()) {
		if i := strings.Index(line, "WARNING"); i >= 0 {
			at = append(at, i)
		}
	}
	if len(at) != 2 || at[0] != at[1] {
		t.Errorf("warnings at %v in\n%s", at, out.String())
	}
}

// TestNoColumnIsUnnamed: an approver reads the name of every column, though not what is made of
// each; of a study of hundreds, how many are not named.
func TestNoColumnIsUnnamed(t *testing.T) {
	for columns, unnamed := range map[int]string{60: "", 2000: ", and 1500 that are not named here"} {
		plan, figures := &study.Plan{}, &sitedata.Figures{}
		for i := range columns {
			plan.Proposal.Spec.Columns = append(plan.Proposal.Spec.Columns, proposal.Column{Name: fmt.Sprintf("column-%d", i), Scale: 1})
			figures.Columns = append(figures.Columns, sitedata.ColumnFigure{Name: fmt.Sprintf("column-%d", i), Scale: 1})
		}
		for _, of := range []*sitedata.Figures{nil, figures} {
			var out bytes.Buffer
			printStudy(&out, agent.StudyDetail{StudyView: agent.StudyView{Name: "s", State: "pending"}, Plan: plan, Figures: of})
			screen := strings.ReplaceAll(out.String(), "\n    ", "")
			for i := range min(columns, 500) {
				if !strings.Contains(screen, fmt.Sprintf("column-%d", i)) {
					t.Errorf("%d columns, figures %t: no column-%d", columns, of != nil, i)
				}
			}
			if !strings.Contains(screen, unnamed+"\n") || unnamed != "" && strings.Contains(screen, "column-500") {
				t.Errorf("%d columns, figures %t: no %q", columns, of != nil, unnamed)
			}
		}
	}
}

// TestFaultIsSaidOnce: a fault of a file is printed in one line, however many checks meet it.
func TestFaultIsSaidOnce(t *testing.T) {
	fault := &dataset.Error{File: "north.csv", Row: 7, Reason: "2 fields, the header has 4"}
	found := []doctor.Finding{
		{Code: doctor.CheckData, Check: "data set icu", Result: fault.Error(), Do: "mend it", Err: fault},
		{Code: doctor.CheckColumns, Check: "study s", Result: "data set icu: " + fault.Error(), Do: "mend it", Err: &sitedata.DataError{Dataset: "icu", Err: fault}},
	}
	var out bytes.Buffer
	printFindings(&out, found)
	err := error(checkError{found, true})
	if all := out.String() + err.Error(); strings.Count(all, "line 7") != 1 || strings.Count(all, "mend it") != 1 || !strings.Contains(all, "2 of the checks failed") {
		t.Errorf("%s%v", out.String(), err)
	}
	// a pipe that takes stderr alone has it, too
	if text := (checkError{found, false}).Error(); text != "data: data set icu: "+fault.Error() {
		t.Errorf("%q", text)
	}
	if _, ok := errors.AsType[*sitedata.DataError](err); !ok {
		t.Error("the exit status cannot be told from it")
	}
}
