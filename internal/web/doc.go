// Package web is the pages of a server: what runs, what it found, what it cost.
//
//	browser ─► site: host, origin, session            web.go, session.go
//	        ─► the table of pages: least role         web.go
//	        ─► a page: asks the API, fills a template page_*.go, templates/
//	        ─► the API, as the same person            inprocess.go
//
// It is a client of package rest/api like any other: a page reads by [api.Client], and an act is
// one request that the API's document describes. So who may do what is decided in one place, and
// nothing here reads a store.
//
// A page is whole without a script: tables, and forms that are answered by 303. Modules, which
// are those of package pages and those in static/, draw charts and keep the page up to date.
// Nothing is loaded from elsewhere, and the policy of every page lets nothing run or load but
// files of this server.
//
// To add a page: a row in the table of pages, page_NAME.go, templates/NAME.html and, if it
// needs one, static/NAME.js.
package web
