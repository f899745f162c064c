"""Runs: samples judged by a graph, kept in a folder, resumed, summed up."""
