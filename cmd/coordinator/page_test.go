package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// fetch is "fetch STATUS URL TOKENFILE OUT": it asks a page with the token in a file until the
// status is STATUS, and writes what was answered to OUT.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: fetch status url tokenfile out")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	last := ""
	for range maxPolls {
		r, err := http.NewRequest("GET", args[1], nil)
		ts.Check(err)
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[2])))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			last = err.Error()
			time.Sleep(pollEvery)
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		if last = fmt.Sprintf("%s: %.300s", answer.Status, text); answer.StatusCode == want {
			ts.Check(os.WriteFile(ts.MkAbs(args[3]), text, 0o600))
			return
		}
		time.Sleep(pollEvery)
	}
	ts.Fatalf("%s answered %s", args[1], last)
}
