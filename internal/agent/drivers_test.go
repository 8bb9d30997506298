package agent

// The agent's command imports these too.
import (
	_ "covey/internal/dataset/mariadb"
	_ "covey/internal/dataset/npy"
	_ "covey/internal/dataset/parquet"
	_ "covey/internal/dataset/postgres"
)
