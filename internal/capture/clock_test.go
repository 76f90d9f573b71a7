package capture

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
)

// bigNanos is the definition of a time stamp in exact arithmetic.
func bigNanos(resolution byte, seconds int64, ts uint64) int64 {
	base := int64(10)
	if resolution&0x80 != 0 {
		base = 2
	}
	unit := new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(resolution&0x7f)), nil)
	v := new(big.Int).Mul(new(big.Int).SetUint64(ts), big.NewInt(1e9))
	v.Div(v, unit)
	v.Add(v, new(big.Int).Mul(big.NewInt(seconds), big.NewInt(1e9)))
	if !v.IsInt64() {
		if v.Sign() < 0 {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return v.Int64()
}

func TestClock(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for r := range 256 {
		for range 200 {
			ts := rnd.Uint64() >> rnd.Intn(64)
			seconds := []int64{0, 0, 1, -3600, 1_700_000_000}[rnd.Intn(5)]
			want := bigNanos(byte(r), seconds, ts)
			if want > 9e18 || want < -9e18 {
				continue // how far out it is clamped does not matter
			}
			c := newClock(byte(r), seconds)
			assert.Equal(t, want, c.nanos(ts), "resolution %#x, offset %d, ts %d", r, seconds, ts)
		}
	}
}

func TestClockClamps(t *testing.T) {
	for _, tc := range []struct {
		resolution byte
		seconds    int64
		ts         uint64
		want       int64
	}{
		{0, 0, math.MaxUint64, math.MaxInt64},
		{6, math.MaxInt64, 1, math.MaxInt64},
		{6, math.MinInt64, 1, math.MinInt64},
		{0, 9e9, 9e9, math.MaxInt64},
	} {
		c := newClock(tc.resolution, tc.seconds)
		assert.Equal(t, tc.want, c.nanos(tc.ts), tc)
	}
}
