package query

// LevelBins are the bins of a column with levels: its levels, 64 at most, then one for all other
// texts. The rest stay empty, so that the number of columns can be told from that of values.
const LevelBins = 64 + 1
