"""What people look at: pictures of graphs, and pages of runs."""
