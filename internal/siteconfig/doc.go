// Package siteconfig reads agent.toml: a site's populations and their budgets, its data sets, and
// the policy of which studies it enters without its operator.
//
// What agent and doctor know of a site before they open its keys or its ledger is here. A
// configuration is checked whole when it is read: a *Config has a price for each population, a
// population for each data set, and limits that can be compared with a plan.
package siteconfig
