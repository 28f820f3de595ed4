"""ns-2 on the cells of `trammel fidelity`, beside the kernel and the simulator."""
