"""How a Program runs: op by op (tier 0) or compiled (tier 1), when compiling pays, which executables are kept."""
