package records

// Limits are the caps that hold hostile record sets in bounds. A field of zero stands for its
// default.
type Limits struct {
	// Decompressed is the most bytes that one batch may decompress to. Default 16 MiB.
	Decompressed int
	// Ratio is the most bytes that one compressed byte may become, for batches that decompress
	// to more than a mebibyte. Default 1000.
	Ratio int
	// Total is the most bytes that all batches since Reset may decompress to. Default 128 MiB.
	Total int
	// Issues is the most issues that one Walk reports. Default 100.
	Issues int
}

// ratioFloor is the size up to which any ratio is taken.
const ratioFloor = 1 << 20

func (l Limits) withDefaults() Limits {
	or := func(v, def int) int {
		if v <= 0 {
			return def
		}
		return v
	}
	return Limits{
		Decompressed: or(l.Decompressed, 16<<20),
		Ratio:        or(l.Ratio, 1000),
		Total:        or(l.Total, 128<<20),
		Issues:       or(l.Issues, 100),
	}
}

// of returns the cap for a batch of n compressed bytes, of which left may still be spent.
func (l Limits) of(n, left int) int {
	return min(l.Decompressed, max(ratioFloor, n*l.Ratio), left)
}
