"""Behind the recorder's face: segments, the state of threads, flushes, what is still wanted, where work is cut."""
