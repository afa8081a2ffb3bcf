"""Logic captures (ILA, VCD): AXI ports and transactions; run logs of an accelerator."""
