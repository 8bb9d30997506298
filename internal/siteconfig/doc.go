// Package siteconfig reads agent.toml: a site's populations and their budgets, its data sets, and
// the policy of which studies it enters without its operator.
//
// What agent and doctor know of a site before they open its keys or its ledger is here. A
// configuration is checked whole when it is read: a *Config has a price for each population, a
// population for each data set, and limits that can be compared with a plan.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - AG-38: An operator's decision MUST name the whole digest, and the command MUST compare the
//     answer's digest with the one it showed. Four or more hexadecimal digits MUST NOT be taken
//     for a name, nor name a study.
//   - AG-39: A policy MUST NOT approve by itself a study with a site that it does not list by name
//     and key, nor, unless it says so, one with central noise, or with η below the default.
//   - AG-53: A policy MUST NOT approve by itself a proposal of an analyst whom it does not list by
//     name and key; nor, where it lists any, one that nobody signed; nor one that takes the
//     studies of the proposer's key beyond its `max_epsilon_total`, which the ledger sums by key
//     in the transaction of the approval.
//   - AG-51: A proposal that was left to the operator MUST NOT be approved by a later policy.
//   - AG-52: A running agent MUST take a new `agent.toml` whole or not at all: none that others
//     may write to, with another site, coordinator or data folder, or that moves a data set to
//     another population without the operator's word. Its log MUST name keys and no values.
//   - AG-29, AG-30: It MUST NOT read rows to answer a proposal that neither policy nor operator
//     approves, nor let its answer depend on what is in them. `unit`, `columns` and `format` MUST
//     follow from the site's configuration and the names and types of columns.
package siteconfig
