package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"covey/internal/packed"
	"covey/test/command"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"agent": main}) }

// TestScript runs the commands that need no coordinator, as a person would.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			text, err := os.ReadFile("../../internal/result/testdata/result.json")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "result.json"), text, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": command.Code, "sub": command.Sub, "makeledger": makeLedger, "spent": spent, "locked": locked, "zipped": zipped,
		},
	})
}

// zipped is "zipped FILE…": each gets its form in pending/, next to it.
func zipped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: zipped file...")
	}
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file+".gz"), packed.Zip([]byte(ts.ReadFile(file))), 0o600))
	}
}
