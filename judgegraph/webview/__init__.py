"""`judgegraph view`: a web app on this machine that shows the samples of runs."""
