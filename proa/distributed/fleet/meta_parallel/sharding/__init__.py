"""Optimiser states, gradients and parameters divided among the processes of a group.

shares.py                        who has which parameters, and how gradients and values travel
group_sharded.py                 stages 1 and 2: states, and gradients
group_sharded_stage3.py          stage 3: parameters as well
"""
