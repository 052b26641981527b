// Package pages makes pages of studies: one HTML file that needs no network ([Write]), built from modules in web/ that
// a server can also send unchanged ([Files]). The content of a page comes from the record; the modules draw on canvas
// and are plain ES modules, without a build step and without dependencies.
//
// A page trusts no text of a user or a program. Text goes through html/template, data through one element that is not a
// script and in which no tag can begin, and the page's own policy (a Content-Security-Policy) allows only the script
// and the style that it names by their hashes to run or load.
package pages
