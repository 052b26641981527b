package queue_test

import (
	"testing"
	"time"

	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/queue"
)

func TestMemory(t *testing.T) {
	assaytest.TestCarrier(t, func(*testing.T) assaytest.Carrier[queue.Ticket, queue.Delivery] {
		return queue.NewMemory(time.Second)
	}, assaytest.CarrierOptions{Lease: time.Second, Bubble: true})
}
