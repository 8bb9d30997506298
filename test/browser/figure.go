//go:build browser

package browser

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the pictures of docs/figures anew")

// figureBytes bounds a picture of docs/figures.
const figureBytes = 150 << 10

// Figure keeps the page as a picture of the docs: all of it, or what is above the card of the
// heading that until selects.
func (b *Tab) Figure(name, until string) {
	b.T.Helper()
	b.Shot(name)
	if !*update {
		return
	}
	raw, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.T.Fatal(err)
	}
	page, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		b.T.Fatal(err)
	}
	if until != "" {
		end := Value[int](b, "Math.round(document.querySelector("+strconv.Quote(until)+").closest('.card').getBoundingClientRect().top + window.scrollY)")
		page = page.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(image.Rect(0, 0, page.Bounds().Dx(), end))
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, paletted(page)); err != nil {
		b.T.Fatal(err)
	}
	if small.Len() > figureBytes {
		b.T.Errorf("%s has %d bytes, at most %d", name, small.Len(), figureBytes)
	}
	if err := os.WriteFile(filepath.Join("../../docs/figures", name+".png"), small.Bytes(), 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// paletted is a picture in its 256 commonest colors of five bits a channel: pages have few.
func paletted(page image.Image) *image.Paletted {
	count := map[color.RGBA]int{}
	exact := map[color.RGBA]map[color.RGBA]int{}
	at := page.Bounds()
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			c := color.RGBAModel.Convert(page.At(x, y)).(color.RGBA)
			coarse := color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}
			count[coarse]++
			if exact[coarse] == nil {
				exact[coarse] = map[color.RGBA]int{}
			}
			exact[coarse][c]++
		}
	}
	order := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(uint32(a.R)<<16|uint32(a.G)<<8|uint32(a.B), uint32(b.R)<<16|uint32(b.G)<<8|uint32(b.B)))
	})
	var palette color.Palette
	for _, coarse := range order[:min(len(order), 256)] {
		most, n := coarse, 0
		for c, times := range exact[coarse] {
			if times > n {
				most, n = c, times
			}
		}
		palette = append(palette, most)
	}
	out := image.NewPaletted(at, palette)
	draw.Draw(out, at, page, at.Min, draw.Src)
	return out
}

var sheets = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// Print makes a PDF of the page and fails unless it is one sheet of A4; it is kept beside the
// pictures.
func (b *Tab) Print(name string) {
	b.T.Helper()
	b.Do(b.Size(900, 900))
	b.Figure(name, "")
	pdf, err := chromedp.Run(b.Ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize(), chromedp.PDFOutlineAndTagged()))
	if err != nil {
		b.T.Fatal(err)
	}
	if n := len(sheets.FindAll(pdf, -1)); n != 1 {
		b.T.Errorf("the report is of %d sheets", n)
	}
	keep := []string{}
	if *shots != "" {
		keep = append(keep, *shots)
	}
	if *update {
		keep = append(keep, "../../docs/figures")
	}
	for _, dir := range keep {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), pdf, 0o644); err != nil {
			b.T.Fatal(err)
		}
	}
}
