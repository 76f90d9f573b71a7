package tree

// ANSI colours of the text form.
const (
	colorOff   = "\x1b[0m"
	colorName  = "\x1b[1m"
	colorType  = "\x1b[36m"
	colorAbout = "\x1b[2m"
)

func (x *Text) color(code string) {
	if x.Color {
		x.dst = append(x.dst, code...)
	}
}

func issueColor(s Severity) string {
	switch s {
	case Error:
		return "\x1b[31m"
	case Warning:
		return "\x1b[33m"
	}
	return "\x1b[34m"
}

// regionColor returns the background-free colour of a region in a byte grid.
func regionColor(r Region) string {
	switch r {
	case RegionFrame:
		return "\x1b[90m"
	case RegionHeader:
		return "\x1b[35m"
	case RegionRequest, RegionData:
		return "\x1b[34m"
	case RegionResponse:
		return "\x1b[32m"
	case RegionBatch:
		return "\x1b[33m"
	case RegionRecord:
		return "\x1b[36m"
	case RegionTags:
		return "\x1b[31m"
	}
	return ""
}

// AppendRegion appends the words of the legend for r, in its colour where color is set.
func AppendRegion(dst []byte, r Region, color bool) []byte {
	if !color {
		return append(dst, r.String()...)
	}
	dst = append(dst, regionColor(r)...)
	dst = append(dst, r.String()...)
	return append(dst, colorOff...)
}
