"""Latency of firmware and boards, read off their consoles."""
