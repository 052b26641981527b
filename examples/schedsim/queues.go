package main

import (
	"fmt"
	"iter"
	"time"
)

// limits is the array of requested times that the indices of a configuration
// refer to, from 1; the 13th is the limit of the last queue: none.
var limits = [12]time.Duration{
	5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	1 * time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 18 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

// Queues is a configuration: the indices of the limits of the first four of the five queues. A job goes
// to the first queue whose limit is not below the time it asks for, to the fifth without such a queue.
//
// The paper has an array of 13 times, four indices into it and 495 configurations (Silva Cunha et al.
// 2018, §4.1). 495 is the number of ways to choose 4 of 12: the last of the 13 is the limit of the fifth
// queue, and the indices increase strictly, so that no queue is empty by construction. (Indices that may
// be equal would make 495 with an array of 9.)
type Queues [4]int

// Check returns an error if the indices are not increasing and from 1 to 12.
func (q Queues) Check() error {
	for i, k := range q {
		if k < 1 || k > len(limits) {
			return fmt.Errorf("q%d is %d: indices are from 1 to %d", i+1, k, len(limits))
		}
		if i > 0 && k <= q[i-1] {
			return fmt.Errorf("q%d is %d and q%d is %d: indices increase", i, q[i-1], i+1, k)
		}
	}
	return nil
}

// Limits returns the limits of the first four queues in seconds.
func (q Queues) Limits() []int64 {
	s := make([]int64, len(q))
	for i, k := range q {
		s[i] = int64(limits[k-1] / time.Second)
	}
	return s
}

// AllQueues yields the 495 configurations in the order of their indices.
func AllQueues() iter.Seq[Queues] {
	return func(yield func(Queues) bool) {
		n := len(limits)
		for a := 1; a <= n-3; a++ {
			for b := a + 1; b <= n-2; b++ {
				for c := b + 1; c <= n-1; c++ {
					for d := c + 1; d <= n; d++ {
						if !yield(Queues{a, b, c, d}) {
							return
						}
					}
				}
			}
		}
	}
}

// queueOf returns the index of the queue of a job that asks for request seconds.
func queueOf(limits []int64, request int64) int {
	for i, l := range limits {
		if request <= l {
			return i
		}
	}
	return len(limits)
}
