"""wrk: the script that makes it keep a schedule, what to run for a window, and what its output says."""
