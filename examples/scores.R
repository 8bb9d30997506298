# Projects the rows of a CSV file on the components of a Covey result:
# Rscript scores.R result.csv rows.csv > scores.csv
paths <- commandArgs(trailingOnly = TRUE)
result <- read.csv(paths[1], check.names = FALSE, fileEncoding = "UTF-8")
names(result) <- sub("^'([-=+@])", "\\1", names(result)) # the table guards such names from spreadsheets
columns <- 6:(max(which(names(result) == "epsilon")) - 1)
numbers <- as.matrix(result[columns])
rownames(numbers) <- result[, 1]
rows <- as.matrix(read.csv(paths[2], check.names = FALSE, fileEncoding = "UTF-8-BOM")[names(result)[columns]])
scaled <- sweep(sweep(sweep(rows, 2, numbers["offset", ]), 2, numbers["scale", ], "/"), 2, numbers["mean", ])
write.csv(scaled %*% t(numbers[-(1:3), , drop = FALSE]), row.names = FALSE)
