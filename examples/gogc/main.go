// Gogc counts the actions of visitors, from a file of JSON lines: a program that allocates much, as services
// in Go do, with the settings that such a program has. How often the garbage collector runs (GOGC) and
// how many workers decode how many lines at once decide how long it takes and how much memory it needs.
//
//	go build -o gogc . && ./gogc -generate 60000 events.json && GOGC=100 ./gogc events.json
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"sort"
	"sync"
)

// An event is a line of the file.
type event struct {
	User  string            `json:"user"`
	Path  string            `json:"path"`
	Took  float64           `json:"took_ms"`
	Attrs map[string]string `json:"attrs"`
}

// A visitor is the kept part of the events of a user.
type visitor struct {
	events int
	took   float64
	paths  map[string]int
}

func main() {
	generate := flag.Int("generate", 0, "write a file of that many events, and end")
	workers := flag.Int("workers", 1, "decoders at once")
	batch := flag.Int("batch", 16, "lines that a decoder is given at once")
	buffer := flag.Int("buffer", 4096, "bytes that are read at once")
	flag.Parse()
	log.SetFlags(0)
	if flag.NArg() != 1 {
		log.Fatal("usage: gogc [flags] FILE")
	}
	var err error
	if *generate > 0 {
		err = write(flag.Arg(0), *generate)
	} else {
		err = count(flag.Arg(0), max(1, *workers), max(1, *batch), *buffer)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// write makes a file of n events, the same at every call.
func write(name string, n int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(1, 2))
	w := bufio.NewWriter(f)
	for range n {
		e := event{
			User: fmt.Sprintf("user-%04d", r.IntN(4000)), Path: fmt.Sprintf("/item/%d", r.IntN(500)),
			Took: r.ExpFloat64() * 20, Attrs: map[string]string{},
		}
		for range 6 {
			e.Attrs[fmt.Sprintf("key%d", r.IntN(12))] = fmt.Sprintf("value-%d", r.IntN(1000))
		}
		if err := json.NewEncoder(w).Encode(e); err != nil {
			return err
		}
	}
	return w.Flush()
}

// count reads the events, and prints the ten users who waited longest.
func count(name string, workers, batch, buffer int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, events := make(chan [][]byte, workers), make(chan []event, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for group := range lines {
				out := make([]event, len(group))
				for i, line := range group {
					if err := json.Unmarshal(line, &out[i]); err != nil {
						log.Fatalf("%s: %v", name, err)
					}
				}
				events <- out
			}
		})
	}
	go func() {
		defer close(lines)
		var group [][]byte
		in := bufio.NewScanner(bufio.NewReaderSize(f, buffer))
		for in.Scan() {
			group = append(group, append([]byte(nil), in.Bytes()...))
			if len(group) >= batch {
				lines <- group
				group = nil
			}
		}
		lines <- group
	}()
	go func() { wg.Wait(); close(events) }()
	visitors := map[string]*visitor{}
	for group := range events {
		for _, e := range group {
			v := visitors[e.User]
			if v == nil {
				v = &visitor{paths: map[string]int{}}
				visitors[e.User] = v
			}
			v.events++
			v.took += e.Took
			v.paths[e.Path]++
		}
	}
	users := make([]string, 0, len(visitors))
	for u := range visitors {
		users = append(users, u)
	}
	sort.Slice(users, func(i, j int) bool { return visitors[users[i]].took > visitors[users[j]].took })
	for _, u := range users[:min(10, len(users))] {
		fmt.Printf("%s %d events %.1f ms %d paths\n", u, visitors[u].events, visitors[u].took, len(visitors[u].paths))
	}
	return nil
}
