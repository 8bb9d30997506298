package coveyv1

//go:generate sh -c "cd ../../.. && go tool -modfile=tools.mod buf generate"
