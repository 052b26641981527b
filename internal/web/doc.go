// Package web serves the web pages of a server: running work, results and costs.
//
//	browser ─► site: host, origin, session            web.go, session.go
//	        ─► the table of pages: least role         web.go
//	        ─► a page: asks the API, fills a template page_*.go, templates/
//	        ─► the API, as the same user              inprocess.go
//
// It is a client of package rest/api like any other: a page reads through [api.Client], and an act is one request that
// the API's document describes. So permissions are decided in one place, and nothing here reads a store.
//
// A page is complete without scripts: it has tables, and forms that are answered by 303. Modules, from package pages
// and from static/, draw charts and keep the page up to date. Nothing is loaded from elsewhere, and the policy of every
// page allows only files of this server to run or load.
//
// To add a page: a row in the table of pages, page_NAME.go, templates/NAME.html and, if it needs one, static/NAME.js.
package web
