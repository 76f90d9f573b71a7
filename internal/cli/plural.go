package cli

import "strconv"

// plural writes a number with its noun, such as "1 packet" and "2 packets".
func plural[N int | int64](n N, noun string) string {
	text := strconv.FormatInt(int64(n), 10) + " " + noun
	if n != 1 {
		text += "s"
	}
	return text
}
