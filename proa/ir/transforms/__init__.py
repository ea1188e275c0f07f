"""Changes of a recorded Program before it runs: fusion, tiles, rematerialisation, donation, exactness."""
