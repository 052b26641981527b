package result

import (
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }
