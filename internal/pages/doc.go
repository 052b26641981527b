// Package pages makes pages of studies: one HTML file that needs no network ([Write]), of modules
// in web/ that a server can send as they are ([Files]). What a page shows comes from the record;
// the modules draw on canvas and are plain ES modules, without a build step and without anything
// of others.
//
// A page trusts nothing that a user or a program wrote. Text goes through html/template, data
// through one element that is no script and in which no tag can begin, and the page's own policy
// (a Content-Security-Policy) lets nothing run or load but the script and the style that it names
// by their hashes.
package pages
