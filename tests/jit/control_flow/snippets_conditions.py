"""if, elif, else, conditional expressions, and, or, not, comparisons, assert."""

from __future__ import annotations

import proa as paddle

from .collection import snippet


@snippet(([1.0, 2.0],), ([-1.0, -2.0],))
def if_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@snippet(([1.0, 2.0],), ([-1.0, -2.0],), ([-9.0, -2.0],), ([0.5, -0.5],))
def if_elif_else(x):
    total = x.sum()
    if total > 1:
        y = x * 2
    elif total < -5:
        y = x * x
    elif total < 0:
        y = x * 3 + 1
    else:
        y = x + 10
    return y


@snippet(([1.0, 2.0],), ([-1.0, -2.0],))
def if_without_else(x):
    y = x * 1.5
    if y.mean() > 0:
        y = y * y
    return y


@snippet(([1.0, 2.0],), ([-1.0, 2.0],), ([1.0, -2.0],), ([-1.0, -2.0],))
def nested_ifs(x):
    if x[0] > 0:
        if x[1] > 0:
            y = x * 2
        else:
            y = x * 3
    else:
        if x[1] > 0:
            y = x * 5
        else:
            y = x * 7
        y = y + 1
    return y


@snippet(([1.0, 2.0],), ([-1.0, -2.0],))
def early_return(x):
    if x.sum() > 0:
        return x * 2
    return x * 3


@snippet(([3.0],), ([1.0],), ([-1.0],), ([-3.0],))
def many_returns(x):
    if x > 2:
        return x * 2
    if x > 0:
        y = x * 3
        return y + 1
    elif x < -2:
        return x * x
    z = x - 5
    return z * 4


@snippet(([2.0, 3.0],), ([-2.0, 3.0],))
def conditional_expression(x):
    y = x * 2 if x[0] > 0 else x / 2
    return y + (1 if y.sum() > 8 else -1)


@snippet(([2.0, 3.0],), ([-2.0, 3.0],), ([-2.0, -3.0],), ([2.0, -3.0],))
def logic(x):
    if x[0] > 0 and x[1] > 0:
        return x.sum()
    if not (x[0] > 0 or x[1] > 0):
        return x.sum() * 2
    return x.sum() * 3


@snippet(([0.5],), ([3.0],), ([-3.0],))
def chained_comparison(x):
    if 0 < x < 1:
        return x * 2
    elif -5 < x <= -1 < 2:
        return x * 3
    return x * 4


@snippet(([2.0, 3.0], True), ([2.0, 3.0], False), ([-2.0, 3.0], True))
def python_and_tensor_conditions(x, double):
    if double and x[0] > 0:
        x = x * 2
    if not double or x[1] > 100:
        x = x + 1
    return x


@snippet(([2.0, 3.0], None), ([2.0, 3.0], [4.0, 5.0]))
def optional_argument(x, mask=None):
    if mask is not None and mask.sum() > 0:
        x = x * mask
    return x


@snippet(([2.0],), ([-2.0],))
def numbers_become_tensors(x):
    if x > 0:
        factor = 2
        offset = 1
    else:
        factor = 0.5
        offset = 1
    return x * factor + offset


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def flags_from_branches(x):
    found = False
    if x[0] > 0:
        found = True
    if found:
        x = x * 3
    return x


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def tuples_and_dictionaries(x):
    pair = (x, x * 2)
    table = {"a": x}
    if x[0] > 0:
        pair = (pair[1], pair[0] * 3)
        table["a"] = table["a"] + 1
    else:
        table["a"] = x * 5
    return pair[0] + pair[1] * 2 + table["a"]


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def appended_in_both_branches(x):
    parts = [x]
    if x[0] > 0:
        parts.append(x * 2)
    else:
        parts.append(x * 3)
    return paddle.concat(parts)


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def item_assignment(x):
    y = x * 1
    if y[0] > 0:
        y[1] = x[0] * 4
    else:
        y[0] = 0.0
    return y


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def in_place(x):
    y = x * 1
    if x[0] > 0:
        y.add_(x * 2)
        y.scale_(3.0)
    return y * x


@snippet(([2.0, 1.0],), ([5.0, -1.0],))
def asserted(x):
    assert x[0] > 0, "the first must be positive"
    y = x * 2
    assert y.shape[0] == 2
    return y


@snippet(([2.0, 1.0],), ([1.0, 1.0],))
def raising_branch(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x * x


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def local_in_one_branch(x):
    if x[0] > 0:
        helper = x * 2
        y = helper + 1
    else:
        y = x
    return y


@snippet(([2.0, 1.0],), ([-2.0, -3.0],), ([-2.0, 3.0],))
def any_all_max_min(x):
    if any([x[0] > 0, x[1] > 0]):
        x = x * 2
    if all([x[0] < 0, x[1] < 0]):
        x = x * 3
    return max(x[0], x[1]) - min(x[0], x[1], 0.0)


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def under_no_grad(x):
    with paddle.no_grad():
        scale = x.abs().max()
        if scale > 1.5:
            scale = scale * 2
    return x * scale


@snippet(([2.0, 1.0],), ([-2.0, 1.0],))
def detached(x):
    if x[0] > 0:
        return (x * x.detach()).sum()
    return (x.detach() * 2 + x).sum()


@snippet(([1.0, 2.0],), ([-1.0, 2.0],))
def casts_of_numbers(x):
    count = int(x[0] * 2)
    flag = bool(x[0] > 0)
    if flag:
        x = x + float(count)
    return x
