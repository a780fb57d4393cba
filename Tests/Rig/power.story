# a machine that loses its power while it is written to loses nothing it had acknowledged
powercut alpha
