"""The settings whose trajectories are compared, written once for Paddle and for proa.

`generate.py` runs them with real Paddle, `../test_reference_trajectories.py` with proa: both call `run` with the library
under its usual name. The problem is a tiny network whose data change from step to step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 50
KEPT = (1, 2, 3, 5, 10, 20, 35, 50)
# These run in float32 as well, and then compiled; the rest in float64 only, at once.
IN_FLOAT32 = (
    "adam_l1_norm", "adamw_chosen", "adamax", "adamax_groups", "adagrad", "adadelta", "rmsprop_centered_momentum",
    "nadam", "nadam_groups", "radam", "radam_betas", "asgd_batches", "lamb", "lamb_excluded", "rprop_norm", "rprop",
)  # fmt: skip
NOT_IN_FLOAT64 = ("adam_l1_norm", "rprop_norm")  # Paddle cannot clip by norm there
SHAPES = {"weight": (2, 3), "bias": (3,), "head": (3, 1)}


def parameters(paddle: Any, dtype: str) -> list[Any]:
    """Fixed starting values, none of them zero."""
    made = []
    for number, (name, shape) in enumerate(SHAPES.items()):
        size = int(np.prod(shape))
        values = (np.sin(np.arange(1, size + 1) * (number + 1.3)) * 0.7 + 0.11).reshape(shape)
        parameter = paddle.create_parameter(list(shape), dtype, attr=paddle.ParamAttr(name=name))
        parameter.set_value(values.astype(dtype))
        made.append(parameter)
    return made


def loss_of(paddle: Any, params: list[Any], step: int, dtype: str) -> Any:
    weight, bias, head = params
    grid = np.arange(8, dtype="float64").reshape(4, 2)
    x = np.cos(grid * 0.9 + 0.37 * step)
    y = np.sin(x[:, :1] * 2.0) + 0.5 * x[:, 1:] ** 2
    hidden = paddle.tanh(paddle.matmul(paddle.to_tensor(x.astype(dtype)), weight) + bias)
    return ((paddle.matmul(hidden, head) - paddle.to_tensor(y.astype(dtype))) ** 2).mean()


def flat(params: list[Any]) -> np.ndarray:
    return np.concatenate([np.asarray(p.numpy(), "float64").ravel() for p in params])


def cases(paddle: Any) -> dict[str, Any]:
    """Name of the setting -> function from the parameters to the optimiser."""
    o, nn, regularizer, lr = paddle.optimizer, paddle.nn, paddle.regularizer, paddle.optimizer.lr
    experimental = paddle.incubate.optimizer
    l1, l2 = regularizer.L1Decay(0.02), regularizer.L2Decay(0.05)

    def grouped(params: list[Any], **second: Any) -> list[dict[str, Any]]:
        return [{"params": params[:1]}, {"params": params[1:], **second}]

    def fixed(params: list[Any], **attributes: Any) -> list[Any]:
        for name, value in attributes.items():
            setattr(params[0], name, value)
        return params

    found: dict[str, Any] = {
        "sgd": lambda p: o.SGD(0.05, parameters=p),
        "sgd_schedule": lambda p: o.SGD(lr.OneCycleLR(0.2, 60), parameters=p, weight_decay=l2),
        "momentum_nesterov_l2": lambda p: o.Momentum(0.03, 0.8, parameters=p, use_nesterov=True, weight_decay=0.05),
        "momentum": lambda p: o.Momentum(0.03, 0.9, parameters=p),
        "momentum_groups": lambda p: o.Momentum(0.03, parameters=grouped(p, learning_rate=0.5, weight_decay=0.1)),
        "adam": lambda p: o.Adam(0.01, parameters=p),
        "adam_l1_norm": lambda p: o.Adam(
            0.01, 0.8, 0.9, parameters=p, weight_decay=l1, grad_clip=nn.ClipGradByNorm(0.1)
        ),
        "adam_amsgrad": lambda p: o.Adam(0.02, 0.9, 0.7, parameters=p, amsgrad=True),
        "adamw": lambda p: o.AdamW(0.01, parameters=p, weight_decay=0.1),
        "adamw_chosen": lambda p: o.AdamW(
            0.01,
            parameters=p,
            weight_decay=0.3,
            apply_decay_param_fun=lambda name: name != "bias",
        ),
    }
    ways: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
        # name: class, what every setting has, the options that are tried one by one
        "adamax": (
            o.Adamax,
            {"learning_rate": 0.02},
            {"betas": {"beta1": 0.7, "beta2": 0.9}, "epsilon": {"epsilon": 0.05}},
        ),
        "adagrad": (
            o.Adagrad,
            {"learning_rate": 0.1},
            {"initial": {"initial_accumulator_value": 0.3}, "epsilon": {"epsilon": 0.1}},
        ),
        "adadelta": (
            o.Adadelta,
            {"learning_rate": 1.0},
            {"slow": {"learning_rate": 0.1, "rho": 0.8}, "epsilon": {"epsilon": 1e-3}},
        ),
        "rmsprop": (
            o.RMSProp,
            {"learning_rate": 0.01},
            {
                "rho": {"rho": 0.8, "epsilon": 0.01},
                "momentum": {"momentum": 0.7},
                "centered": {"centered": True, "epsilon": 1e-3},
                "centered_momentum": {"centered": True, "momentum": 0.5, "rho": 0.9, "epsilon": 1e-3},
            },
        ),
        "nadam": (
            o.NAdam,
            {"learning_rate": 0.02},
            {"betas": {"beta1": 0.7, "beta2": 0.9}, "decay": {"momentum_decay": 0.4}},
        ),
        "radam": (
            o.RAdam,
            {"learning_rate": 0.02},
            {"betas": {"beta1": 0.7, "beta2": 0.9}, "epsilon": {"epsilon": 0.01}},
        ),
        "asgd": (o.ASGD, {"learning_rate": 0.05}, {"batches": {"batch_num": 4}, "many": {"batch_num": 70}}),
    }
    for name, (kind, common, options) in ways.items():
        variants = {
            "": {},
            **options,
            "l1": {"weight_decay": l1},
            "l2": {"weight_decay": 0.05},
            "global_norm": {"grad_clip": nn.ClipGradByGlobalNorm(0.2)},
            "schedule": {"learning_rate": lr.ExponentialDecay(common["learning_rate"], 0.95)},
        }
        for variant, given in variants.items():
            found[f"{name}_{variant}".rstrip("_")] = lambda p, kind=kind, all={**common, **given}: kind(
                parameters=p, **all
            )
        found[f"{name}_groups"] = lambda p, kind=kind, all=common: kind(
            parameters=grouped(p, learning_rate=0.5, weight_decay=0.1), **all
        )
        found[f"{name}_attributes"] = lambda p, kind=kind, all=common: kind(
            parameters=fixed(p, optimize_attr={"learning_rate": 0.3}, regularizer=l2), weight_decay=0.01, **all
        )
    found |= {
        "lamb": lambda p: o.Lamb(0.02, parameters=p),
        "lamb_betas": lambda p: o.Lamb(0.02, 0.1, 0.7, 0.9, 1e-3, parameters=p),
        "lamb_without_decay": lambda p: o.Lamb(0.02, 0.0, parameters=p),
        "lamb_always_adapt": lambda p: o.Lamb(0.02, 0.0, parameters=p, always_adapt=True),
        "lamb_excluded": lambda p: o.Lamb(
            0.02, 0.2, parameters=p, exclude_from_weight_decay_fn=lambda parameter: parameter.name == "bias"
        ),
        "lamb_global_norm": lambda p: o.Lamb(0.02, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.2)),
        "lamb_schedule": lambda p: o.Lamb(lr.LinearWarmup(0.05, 10, 0.0, 0.05), parameters=p),
        "lars": lambda p: experimental.LarsMomentumOptimizer(0.5, 0.9, 0.02, 0.01, parameter_list=p),
        "lars_excluded": lambda p: experimental.LarsMomentumOptimizer(
            0.1, 0.8, 0.1, 0.1, parameter_list=p, exclude_from_weight_decay=["bias"], epsilon=0.01, regularization=l2
        ),
        "look_ahead": lambda p: experimental.LookAhead(o.Momentum(0.05, 0.9, parameters=p), 0.4, 3),
        "look_ahead_adam": lambda p: experimental.LookAhead(o.Adam(0.02, parameters=p)),
        "rprop": lambda p: o.Rprop(0.01, parameters=p),
        "rprop_range": lambda p: o.Rprop(0.01, learning_rate_range=(0.002, 0.02), parameters=p, etas=(0.6, 1.1)),
        "rprop_norm": lambda p: o.Rprop(0.005, parameters=p, grad_clip=nn.ClipGradByNorm(0.1)),
    }
    for name, (kind, option) in {
        "adamax_group_betas": (o.Adamax, {"beta1": 0.5, "epsilon": 0.1}),
        "adagrad_group_epsilon": (o.Adagrad, {"epsilon": 0.5}),
        "adadelta_group_rho": (o.Adadelta, {"rho": 0.5}),
        "rmsprop_group_rho": (o.RMSProp, {"rho": 0.5, "momentum": 0.4}),
        "nadam_group_betas": (o.NAdam, {"beta1": 0.5}),
        "radam_group_betas": (o.RAdam, {"beta1": 0.5}),
    }.items():
        found[name] = lambda p, kind=kind, option=option: kind(learning_rate=0.02, parameters=grouped(p, **option))
    return found


def run(paddle: Any, name: str, dtype: str = "float64") -> np.ndarray:
    """The parameters after the steps of KEPT."""
    params = parameters(paddle, dtype)
    made = cases(paddle)[name](params)
    kept = []
    for step in range(1, STEPS + 1):
        loss_of(paddle, params, step, dtype).backward()
        made.step()
        made.clear_grad()
        if isinstance(made._learning_rate, paddle.optimizer.lr.LRScheduler):
            made._learning_rate.step()
        if step in KEPT:
            kept.append(flat(params))
    return np.array(kept)


# ---- LBFGS, which is stepped by a function ------------------------------------------------------------------------

LBFGS = {
    "fixed": {"learning_rate": 0.1, "max_iter": 5},
    "wolfe": {"line_search_fn": "strong_wolfe", "max_iter": 5},
    "short_history": {"line_search_fn": "strong_wolfe", "max_iter": 20, "history_size": 3},
    "few_evaluations": {"line_search_fn": "strong_wolfe", "max_eval": 4},
    "slow_wolfe": {"line_search_fn": "strong_wolfe", "max_iter": 3, "learning_rate": 0.5},
    "loose": {"line_search_fn": "strong_wolfe", "tolerance_grad": 1e-2, "tolerance_change": 1e-3},
}


def run_lbfgs(paddle: Any, name: str) -> np.ndarray:
    """Rosenbrock's function from (-1.2, 1): loss, both numbers and calls so far, after each of 8 steps."""
    x, y = (paddle.create_parameter([1], "float64") for _ in range(2))
    x.set_value(np.array([-1.2]))
    y.set_value(np.array([1.0]))
    made = paddle.optimizer.LBFGS(parameters=[x, y], **LBFGS[name])
    calls = 0

    def closure() -> Any:
        nonlocal calls
        calls += 1
        made.clear_grad()
        loss = (100 * (y - x * x) ** 2 + (1 - x) ** 2).sum()
        loss.backward()
        return loss

    kept = []
    for _ in range(8):
        loss = float(made.step(closure))
        kept.append([loss, x.item(), y.item(), calls])
    return np.array(kept)
