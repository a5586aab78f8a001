"""Fair measurement: is speculative decoding faster here, by how much, and why.

    python -m specdec.timing compare      plain against speculative, and transformers' own generate()
    python -m specdec.timing costs        t_draft, t_target(n), prefill
    python -m specdec.timing roofline     what this device can do, and how much of it decoding uses
    python -m specdec.timing overhead     what is not a model's forward pass, and what recording adds
    python -m specdec.timing sharing      what passes for several runs take, and what 1 to 16 runs write at once

`records` is plain data without torch. Measuring is done by generators whose records grow, so that
whoever watches can stop: `compare.compare`, `compare.sweep`, `costs.measure_costs`,
`roofline.measure_roofline`, `overhead.measure_overhead`, `sharing.measure_sharing`, `race.race`.
"""
