package terms

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/frame"
	"covey/internal/proposal"
)

// maxChanges bounds the lines of Changes about who takes part, and those about what is asked.
const maxChanges = 40

// Changes returns what a proposal asks differently from an earlier one, a line each. All of both is
// compared but the nonce, which makes every proposal another one. The proposer's own words
// are not repeated.
func Changes(before, now proposal.Proposal) []string {
	var who []string
	if !bytes.Equal(before.Coordinator, now.Coordinator) {
		who = append(who, "another coordinator's key signs what is released")
	}
	if before.Asker() != now.Asker() {
		who = append(who, "the proposer is "+now.Asker()+" (was "+before.Asker()+")")
	}
	if before.Proposer != nil && now.Proposer != nil && !bytes.Equal(before.Proposer.Identity, now.Proposer.Identity) {
		who = append(who, "the proposer has A DIFFERENT KEY")
	}
	site := func(m proposal.Member) string { return m.Name }
	who = append(who, named("site", before.Roster, now.Roster, site, memberChanges)...)
	who = append(who, named("reader", before.Readers, now.Readers, func(p proposal.Party) string { return p.Name }, partyChanges)...)
	old, current := keysOf(before.Spec), keysOf(now.Spec)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(current)) {
		if was, had := old[key]; !had {
			out = append(out, key+" = "+current[key]+" (not given before)")
		} else if was != current[key] {
			out = append(out, key+" = "+current[key]+" (was "+was+")")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, has := current[key]; !has {
			out = append(out, key+" is no longer given (was "+old[key]+")")
		}
	}
	if before.Spec.About != now.Spec.About {
		out = append(out, "the proposer's description for people changed")
	}
	if !reflect.DeepEqual(before.Spec.Start, now.Spec.Start) {
		out = append(out, "power iteration starts from another point")
	}
	if !reflect.DeepEqual(before.Graph, now.Graph) {
		out = append(out, "the graph of which sites hold each other's shares changed")
	}
	out = append(out, named("column", before.Spec.Columns, now.Spec.Columns, func(c proposal.Column) string { return c.Name }, columnChanges)...)
	out = append(out, named("site", both(before.Roster, now.Roster), now.Roster, site, unitChanges)...)
	// Who takes part, and what is asked, each have their lines: a proposer must not hide either
	// behind many changes of the other.
	return append(few(who), few(out)...)
}

// few returns the first lines, and how many more there are.
func few(lines []string) []string {
	if more := len(lines) - maxChanges; more > 0 {
		return append(lines[:maxChanges], fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// both returns now's members with the units that they had before, where they were there.
func both(before, now []proposal.Member) []proposal.Member {
	units := map[string]int{}
	for _, m := range before {
		units[m.Name] = m.Units
	}
	out := slices.Clone(now)
	for i, m := range out {
		if n, had := units[m.Name]; had {
			out[i].Units = n
		}
	}
	return out
}

// elsewhere are the keys of a study that Changes compares by themselves.
var elsewhere = []string{"about", "columns", "start"}

// keysOf returns the value of each key of a study, as in study.toml; keys in tables have the
// table's name before them.
func keysOf(s proposal.Spec) map[string]string {
	out := map[string]string{}
	text, err := s.Encode()
	var tree map[string]any
	if err == nil {
		err = toml.Unmarshal(text, &tree)
	}
	if err != nil { // it was read from TOML
		return out
	}
	var flat func(prefix string, table map[string]any)
	flat = func(prefix string, table map[string]any) {
		for key, v := range table {
			switch v := v.(type) {
			case map[string]any:
				flat(prefix+key+".", v)
			case string:
				out[prefix+key] = frame.Quoted(v)
			default:
				out[prefix+key] = fmt.Sprint(v)
			}
		}
	}
	for _, key := range elsewhere {
		delete(tree, key)
	}
	flat("", tree)
	return out
}

// named compares two lists of things with names: what is new, what is gone, and what differ says of
// those in both.
func named[T any](what string, before, now []T, name func(T) string, differ func(before, now T) []string) []string {
	old := map[string]T{}
	for _, one := range before {
		old[name(one)] = one
	}
	var out []string
	for _, one := range now {
		title := what + " " + frame.Quoted(name(one))
		was, had := old[name(one)]
		delete(old, name(one))
		if !had {
			out = append(out, title+" is new")
			continue
		}
		for _, change := range differ(was, one) {
			out = append(out, title+": "+change)
		}
	}
	for _, gone := range slices.Sorted(maps.Keys(old)) {
		out = append(out, what+" "+frame.Quoted(gone)+" is no longer in it")
	}
	return out
}

func columnChanges(was, c proposal.Column) []string {
	var out []string
	number := func(key string, before, now float64) {
		if before != now {
			out = append(out, fmt.Sprintf("%s %s (was %s)", key, short(now), short(before)))
		}
	}
	switch {
	case len(c.Levels) > 0 || len(was.Levels) > 0: // which have neither
	case c.Standardize != "" && was.Standardize == "":
		out = append(out, fmt.Sprintf("offset and scale are learned (were %s and %s)", short(was.Offset), short(was.Scale)))
	case c.Standardize == "" && was.Standardize != "":
		out = append(out, fmt.Sprintf("offset %s and scale %s (were learned)", short(c.Offset), short(c.Scale)))
	default:
		number("offset", was.Offset, c.Offset)
		number("scale", was.Scale, c.Scale)
	}
	if !slices.Equal(was.Levels, c.Levels) {
		out = append(out, fmt.Sprintf("the levels changed: %d (was %d)", len(c.Levels), len(was.Levels)))
	}
	if was.As != c.As {
		out = append(out, "read as "+frame.Quoted(c.As)+" (was "+frame.Quoted(was.As)+")")
	}
	if was.Indicator != c.Indicator {
		out = append(out, fmt.Sprintf("indicator %t (was %t)", c.Indicator, was.Indicator))
	}
	if was.Measure != c.Measure || !slices.Equal(was.Range, c.Range) {
		out = append(out, "the proposer's unit of measurement or plausible range changed")
	}
	return out
}

// short is a number in the fewest digits that read back to it.
func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func partyChanges(was, p proposal.Party) []string {
	if !bytes.Equal(was.Identity, p.Identity) {
		return []string{"A DIFFERENT KEY"}
	}
	return nil
}

func memberChanges(was, m proposal.Member) []string {
	return partyChanges(proposal.Party{Identity: was.Identity}, proposal.Party{Identity: m.Identity})
}

func unitChanges(was, m proposal.Member) []string {
	if was.Units == m.Units {
		return nil
	}
	return []string{fmt.Sprintf("%d units (was %d)", m.Units, was.Units)}
}
