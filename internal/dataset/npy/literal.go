package npy

import (
	"strconv"
	"strings"
)

// literal is what is left of a Python literal.
type literal struct{ text string }

func (p *literal) rest() string {
	p.text = strings.TrimLeft(p.text, " \n\t")
	return p.text
}

func (p *literal) take(token string) bool {
	after, ok := strings.CutPrefix(p.rest(), token)
	if ok {
		p.text = after
	}
	return ok
}

// quoted takes a string without escapes.
func (p *literal) quoted() (string, bool) {
	text := p.rest()
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	word, after, ok := strings.Cut(text[1:], text[:1])
	if ok = ok && !strings.Contains(word, `\`); ok {
		p.text = after
	}
	return word, ok
}

// tuple takes a tuple of sizes. Python 2 wrote an L behind a large one.
func (p *literal) tuple() ([]int, bool) {
	inside, after, ok := strings.Cut(p.rest(), ")")
	inside, open := strings.CutPrefix(inside, "(")
	if !ok || !open {
		return nil, false
	}
	p.text = after
	var out []int
	parts := strings.Split(inside, ",")
	for i, part := range parts {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L")
		if part == "" && i == len(parts)-1 {
			break
		}
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil {
			return nil, false
		}
		out = append(out, int(n))
	}
	return out, true
}
