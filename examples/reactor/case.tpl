coolant {T0:.3f}
diameter {d:.5f}
length {L:.3f}
tolerance 1e-6
