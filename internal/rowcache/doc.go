// Package rowcache keeps data sets as studies read them, in files that are mapped and not loaded: a
// study of many queries parses its source once, and rows need not fit into memory.
package rowcache
