//go:build !linux

package capture

import (
	"errors"
	"os"
)

const canMap = false

func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
