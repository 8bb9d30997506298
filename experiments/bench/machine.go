package main

import (
	"flag"
	"os"
	"runtime"
	"strings"
)

func machineCommand(*flag.FlagSet) func() (*report, error) {
	return func() (*report, error) {
		t := table{Head: []string{"machine", ""}}
		t.row("processor", field("/proc/cpuinfo", "model name"))
		t.row("processors", runtime.NumCPU())
		t.row("memory", field("/proc/meminfo", "MemTotal"))
		if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
			t.row("system", runtime.GOOS+" "+strings.TrimSpace(string(text))+", "+runtime.GOARCH)
		}
		t.row("Go", runtime.Version())
		return &report{Tables: []table{t}}, nil
	}
}

// field gives the value of the first line of a file that begins with name and a colon.
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
