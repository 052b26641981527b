// Tools are the programs that maintainers run from the root of the repository:
//
//	go run ./internal/tools suite ARGUMENT OF GO TEST...   runs the tests; make test
//	go run ./internal/tools size                           counts the code; make figures
//	go run ./internal/tools promises [breaks] [PROMISE...] runs the tests of the promises; make promises, make breaks
//	go run ./internal/tools bill licences | sbom FILE      lists the modules of the program; make audit
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := tool(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func tool(args []string) error {
	if len(args) == 0 {
		return errors.New("name one of suite, size, promises, bill")
	}
	switch rest := args[1:]; args[0] {
	case "suite":
		os.Exit(suite(rest))
	case "size":
		return size()
	case "promises":
		promised(rest)
		return nil
	case "bill":
		return bill(rest, os.Stdout)
	}
	return fmt.Errorf("%q is not one of suite, size, promises, bill", args[0])
}
