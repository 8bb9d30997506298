package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hue is what something is drawn with: a color for each group, or the reader's own.
type Hue int

// ink is the color of the text around the drawing; hues from 0 are those of [hues], over and over.
const ink Hue = -1

// hues are told apart by everybody, on a light ground and on a dark one: those of Okabe and Ito,
// the blue between their two. Arrows have the second.
var hues = []string{"#2b8ccb", "#d55e00", "#009e73", "#cc79a7", "#e69f00"}

const arrowHue Hue = 1

// CSS returns the color as hexadecimal digits; of ink, a dark gray.
func (h Hue) CSS() string {
	if h == ink {
		return "#333333"
	}
	return hues[int(h)%len(hues)]
}

// Shape is a polygon that is filled, or a line where Width is above 0. Coordinates are points of a
// 72nd of an inch, from the upper left corner.
type Shape struct {
	Points  [][2]float64
	Hue     Hue
	Opacity float64
	Width   float64
}

// Text is one line. It begins, is centered or ends at X where Anchor is -1, 0 or 1, its baseline is
// at Y, and where Up is set it goes upwards.
type Text struct {
	X, Y, Size float64
	Anchor     int
	Up, Bold   bool
	Hue        Hue
	S          string
}

// Drawing is one picture: shapes, and texts over them.
type Drawing struct {
	Name, Title   string
	Width, Height float64
	Shapes        []Shape
	Texts         []Text
	// Words are the sentences under it: what it shows, of how many, with what noise and what that
	// hides.
	Words []string
}

func (d *Drawing) rect(x, y, width, height float64, h Hue, opacity float64) {
	d.Shapes = append(d.Shapes, Shape{Points: [][2]float64{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, Hue: h, Opacity: opacity})
}

func (d *Drawing) line(h Hue, width, opacity float64, points ...[2]float64) {
	d.Shapes = append(d.Shapes, Shape{Points: points, Hue: h, Opacity: opacity, Width: width})
}

func (d *Drawing) text(x, y, size float64, anchor int, s string) *Text {
	d.Texts = append(d.Texts, Text{X: x, Y: y, Size: size, Anchor: anchor, Hue: ink, S: s})
	return &d.Texts[len(d.Texts)-1]
}

// Sizes of what is written, in points, and of the lines under a drawing.
const (
	titleSize = 12
	labelSize = 10
	tickSize  = 9
	wordSize  = 9
	wordPitch = 13
)

// Captioned returns the drawing with its words under it, as a file of its own has them.
func (d Drawing) Captioned() Drawing {
	d.Texts = append([]Text(nil), d.Texts...)
	for _, sentence := range d.Words {
		for _, s := range wrapped(sentence, int(d.Width/(0.5*wordSize))-4) {
			d.Height += wordPitch
			d.text(14, d.Height-4, wordSize, -1, s)
		}
	}
	d.Height += 8
	return d
}

func wrapped(s string, most int) (out []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			out = append(out, line)
			line = "  "
		} else if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

// WriteSVG writes an SVG element of shapes and texts alone: no script, no style, no reference. Ink
// is the color of the text around it, so that it fits a page of either color scheme; its groups
// have the classes hue-1, hue-2 and so on. Where alone is set it is a file: on white, with its
// namespace.
func (d *Drawing) WriteSVG(w io.Writer, alone bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="Liberation Sans,Arial,Helvetica,sans-serif"`, num(d.Width), num(d.Height))
	if alone {
		fmt.Fprintf(&b, ` width="%spt" height="%spt" color="%s"`, num(d.Width), num(d.Height), ink.CSS())
	} else {
		b.WriteString(` role="img"`)
	}
	b.WriteString("><title>")
	escape(&b, d.Title)
	b.WriteString("</title>")
	if alone {
		b.WriteString(`<path fill="#ffffff" d="M0 0H` + num(d.Width) + "V" + num(d.Height) + `H0Z"/>`)
	}
	for _, s := range d.Shapes {
		b.WriteString(`<path d="`)
		for i, p := range s.Points {
			letter := "L"
			if i == 0 {
				letter = "M"
			}
			b.WriteString(letter + num(p[0]) + " " + num(p[1]))
		}
		if s.Width > 0 {
			fmt.Fprintf(&b, `" fill="none" stroke-width="%s" stroke-opacity="%s" stroke="`, num(s.Width), num(s.Opacity))
		} else {
			fmt.Fprintf(&b, `Z" fill-opacity="%s" fill="`, num(s.Opacity))
		}
		if s.Hue == ink {
			b.WriteString(`currentColor"/>`)
		} else {
			fmt.Fprintf(&b, `%s" class="hue-%d"/>`, s.Hue.CSS(), int(s.Hue)%len(hues)+1)
		}
	}
	for _, t := range d.Texts {
		fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s" fill="`, num(t.X), num(t.Y), num(t.Size))
		if t.Hue == ink {
			b.WriteString(`currentColor"`)
		} else {
			b.WriteString(t.Hue.CSS() + `"`)
		}
		b.WriteString([...]string{"", ` text-anchor="middle"`, ` text-anchor="end"`}[t.Anchor+1])
		if t.Bold {
			b.WriteString(` font-weight="bold"`)
		}
		if t.Up {
			fmt.Fprintf(&b, ` transform="rotate(-90 %s %s)"`, num(t.X), num(t.Y))
		}
		b.WriteString(">")
		escape(&b, t.S)
		b.WriteString("</text>")
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// escape writes a text that cannot leave its place; what is no letter of XML becomes U+FFFD.
func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a buffer takes everything
}

// num writes a coordinate to a hundredth.
func num(v float64) string { return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64) }
