// Command kernel measures the fused power sum of internal/clip in one run beside what it is compared with, on the same rows: the machine's plain read, gonum's and
// (with -tags openblas, which needs Debian's libopenblas-dev and cgo) OpenBLAS's products without clipping or rounding, one column and several, float64 and
// float32, one worker and two, from memory and from a file mapped to be read. Contestants take turns, so that what else the machine does falls on all alike;
// figures are medians over turns. It fails where two kernels do not give the same integers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	dims := flag.String("d", "64,256,1000,4000", "row lengths, with commas between")
	mb := flag.Int("mb", 512, "MB of float64 rows")
	repeat := flag.Int("repeat", 5, "turns, of which medians are taken")
	columns := flag.String("k", "1,2,4,8,16", "numbers of columns of the block table, with commas between")
	asJSON := flag.Bool("json", false, "numbers in place of tables")
	only := flag.String("only", "sums,blocks,growth", "which tables")
	flag.Parse()
	if err := run(os.Stdout, *dims, *columns, *only, *mb, *repeat, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

// result is all tables of a run.
type result struct {
	Processor string  `json:"processor"`
	Cores     int     `json:"cores"`
	BLAS      string  `json:"blas"`
	Repeat    int     `json:"repeat"`
	Tables    []table `json:"tables"`
}

func run(w io.Writer, dims, columns, only string, mb, repeat int, asJSON bool) error {
	ds, err := numbers(dims)
	if err != nil {
		return err
	}
	ks, err := numbers(columns)
	if err != nil {
		return err
	}
	if mb < 1 || mb > 1<<20 || repeat < 1 {
		return fmt.Errorf("%d MB and %d turns: give 1 to 2^20 MB and a turn at least", mb, repeat)
	}
	all := result{Processor: processor(), Cores: runtime.GOMAXPROCS(0), BLAS: blasName, Repeat: repeat}
	for _, part := range strings.Split(only, ",") {
		var tables []table
		switch part {
		case "sums":
			for _, d := range ds {
				t, err := sums(d, mb<<20, repeat)
				if err != nil {
					return err
				}
				tables = append(tables, t)
			}
		case "blocks":
			for _, d := range ds {
				t, err := blocks(d, mb<<20/2, repeat, ks)
				if err != nil {
					return err
				}
				tables = append(tables, t)
			}
		case "growth":
			tables, err = growth(mb<<20, repeat)
			if err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q is none of sums, blocks, growth", part)
		}
		all.Tables = append(all.Tables, tables...)
		if !asJSON {
			for _, t := range tables {
				if _, err := io.WriteString(w, t.markdown()+"\n"); err != nil {
					return err
				}
			}
		}
	}
	if asJSON {
		return json.NewEncoder(w).Encode(all)
	}
	_, err = fmt.Fprintf(w, "%s, %d cores, BLAS %s; medians of %d turns.\n", all.Processor, all.Cores, all.BLAS, repeat)
	return err
}

// numbers are those of a list with commas between, each at least one.
func numbers(list string) ([]int, error) {
	var out []int
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of numbers from 1 on", list)
		}
		out = append(out, n)
	}
	return out, nil
}

// processor is its name where the system tells it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				return strings.Trim(name, "\t :\n")
			}
		}
	}
	return runtime.GOARCH
}
