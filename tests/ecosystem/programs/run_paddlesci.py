"""paddlesci: a network that obeys the Navier-Stokes equations in a rectangle, trained by the package's own Solver."""

import paddle
import ppsci
from common import STEPS, report, start_alike, timed

ppsci.utils.misc.set_random_seed(1)
model = ppsci.arch.MLP(("x", "y"), ("u", "v", "p"), 3, 20, "tanh")
equations = {"NavierStokes": ppsci.equation.NavierStokes(0.01, 1.0, 2, False)}
rectangle = ppsci.geometry.Rectangle((-0.05, -0.05), (0.05, 0.05))
loading = {"dataset": "IterableNamedArrayDataset", "iters_per_epoch": 5}
inside = ppsci.constraint.InteriorConstraint(
    equations["NavierStokes"].equations, {"continuity": 0, "momentum_x": 0, "momentum_y": 0}, rectangle,
    {**loading, "batch_size": 32}, ppsci.loss.MSELoss("sum"), name="inside",
)  # fmt: skip
border = ppsci.constraint.BoundaryConstraint(
    {"u": lambda out: out["u"]}, {"u": 1}, rectangle, {**loading, "batch_size": 16}, ppsci.loss.MSELoss("sum"), name="border"
)  # fmt: skip
constraints = {"inside": inside, "border": border}
start_alike("MLP", model)
optimizer = ppsci.optimizer.Adam(1e-3)(model)
solver = ppsci.solver.Solver(
    model, constraints, "output", optimizer, epochs=1, iters_per_epoch=5, equation=equations, geom={"rectangle": rectangle}
)  # fmt: skip
losses = []
with timed("MLP"):
    for _ in range(STEPS // 5):
        solver.train()
        losses.append(float(solver.train_loss_info["loss"].avg))
assert losses[-1] < losses[0], losses
state = paddle.load("output/checkpoints/latest.pdparams")
assert set(state) == set(model.state_dict())
report(MLP=losses)
