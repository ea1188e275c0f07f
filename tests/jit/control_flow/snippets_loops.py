"""while, for, break, continue, return inside loops, else, nested loops."""

from __future__ import annotations

import proa as paddle

from .collection import snippet


@snippet(([1.0, 2.0],), ([100.0, 2.0],))
def while_on_tensor(x):
    while x.sum() < 50:
        x = x * 2
    return x


@snippet(([1.0, 2.0],), ([10.0, 2.0],))
def while_with_counter(x):
    i = 0
    total = 0.0
    while total < 30:
        total = total + x.sum() * i
        i += 1
    return total * i


@snippet(([1.5], 4), ([1.5], 0), ([0.5], 9))
def range_of_tensor(x, n):
    n = paddle.to_tensor(n)
    y = x
    for i in range(n):
        y = y * x + i
    return y


@snippet(([1.5, 1.0], [7]), ([1.5, 2.0], [2]))
def range_with_start_and_step(x, n):
    y = x * 0
    for i in range(1, int(n.sum()), 2):
        y = y + x * i
    for j in range(int(n.sum()), 0, -3):
        y = y - j
    return y


@snippet(([1.0, 2.0, 3.0],))
def over_rows(x):
    total = paddle.zeros([])
    for row in x:
        if row > 1.5:
            total = total + row * row
    return total


@snippet(([1.0, 2.0, 3.0],), ([4.0, 5.0, 6.0],))
def enumerate_rows(x):
    total = paddle.zeros([])
    for i, row in enumerate(x):
        if row * i > 3:
            break
        total = total + row * (i + 1)
    return total


@snippet(
    ([1.0, -2.0, 3.0], [2.0, 3.0, 4.0]),
)
def zip_tensors(x, y):
    total = paddle.zeros([])
    for a, b in zip(x, y):
        if a < 0:
            continue
        total = total + a * b
    return total


@snippet(([1.0, 2.0],), ([20.0, 2.0],))
def break_in_while(x):
    i = 0
    while i < 10:
        x = x * 1.5
        if x.sum() > 30:
            break
        i += 1
    return x + i


@snippet(([1.0, 2.0],), ([20.0, 2.0],))
def break_in_python_range(x):
    for i in range(6):
        if x.sum() > 25:
            break
        x = x * 2 + i
    return x


@snippet(([1.0, -2.0, 3.0, -4.0],))
def continue_in_for(x):
    total = x.sum() * 0
    for i in range(4):
        if x[i] < 0:
            continue
        total = total + x[i] * (i + 1)
    return total


@snippet(([1.0, 2.0],), ([-1.0, -2.0],), ([100.0, 2.0],))
def while_true(x):
    i = paddle.zeros([], "int64")
    while True:
        if x.sum() > 20:
            break
        if i >= 6:
            break
        x = x * 2
        i += 1
    return x * i


@snippet(([1.0, 2.0],), ([30.0, 2.0],), ([-1.0, 0.5],))
def return_in_loop(x):
    for i in range(5):
        if x.sum() > 20:
            return x * i
        x = x * 2
    return x - 1


@snippet(([1.0, 2.0],), ([30.0, 2.0],), ([-1.0, -2.0],))
def return_in_while(x):
    steps = paddle.zeros([])
    while steps < 8:
        if x.sum() > 20:
            return x * steps
        if x.sum() < -20:
            return x
        x = x * 2
        steps = steps + 1
    return x * 0


@snippet(([1.0, 2.0],), ([9.0, 9.0],))
def for_else(x):
    for i in range(4):
        if x.sum() > 15:
            break
        x = x + i
    else:
        x = x * 10
    return x


@snippet(([1.0, 2.0], 3), ([9.0, 9.0], 5))
def while_else(x, n):
    i = paddle.to_tensor(0)
    while i < n:
        if x.sum() > 15:
            break
        x = x + 1
        i += 1
    else:
        x = x * 10
    return x


@snippet(([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]],))
def nested_loops_with_continue(x):
    total = paddle.zeros([])
    for i in range(2):
        for j in range(3):
            if x[i, j] < 0:
                continue
            total = total + x[i, j] * (i + 1) * (j + 1)
    return total


@snippet(([1.0, 2.0], 4, 5), ([3.0, 4.0], 3, 9), ([0.1, 0.2], 2, 2))
def nested_loops_with_break(x, n, m):
    n, m = paddle.to_tensor(n), paddle.to_tensor(m)
    total = paddle.zeros([])
    i = paddle.to_tensor(0)
    while i < n:
        j = paddle.to_tensor(0)
        while j < m:
            total = total + x.sum() * (j + 1)
            if total > 40:
                break
            j += 1
        if total > 60:
            break
        i += 1
    return total * x


@snippet(([1.0, 2.0], 4), ([3.0, 4.0], 6))
def nested_ranges_with_breaks_and_gradients(x, n):
    n = paddle.to_tensor(n)
    y = x
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 2 == 1:
                continue
            y = y + paddle.sin(y) * x
        if y.sum() > 12:
            break
    return y


@snippet(([1.0, 2.0],), ([-1.0, 3.0],))
def three_levels(x):
    for i in range(2):
        k = 0
        while x.sum() < 10 + i:
            for j in range(2):
                if x[0] > 5:
                    break
                x = x + j + 0.5
            k += 1
            if k > 3:
                break
        x = x * 0.5
    return x


@snippet(([1.0, 2.0, 3.0],))
def list_append_in_python_loop(x):
    parts = []
    for i in range(3):
        if x[i] > 1.5:
            parts.append(x[i] * 2)
        else:
            parts.append(x[i] * 3)
    return paddle.stack(parts)


@snippet(([1.0, 2.0, 3.0],))
def comprehensions(x):
    rows = [row * 2 if row > 1.5 else row for row in x]
    table = {i: rows[i] * i for i in range(len(rows))}
    return paddle.stack(rows).sum() + sum(table.values())


@snippet(([1.0, 2.0],), ([9.0, 2.0],))
def variable_made_in_the_loop(x):
    i = 0
    while i < paddle.to_tensor(3):
        doubled = x * 2
        last = doubled + i
        i += 1
    return last * x


@snippet(([1.0, 2.0], 3), ([1.0, 2.0], 6))
def defined_in_the_first_round(x, n):
    for i in range(paddle.to_tensor(n)):
        if i == 0:
            y = x
        else:
            y = y * x + i
    return y


@snippet(([1.0, 2.0], 3), ([1.0, 2.0], 5))
def number_takes_a_shape(x, n):
    total = 0
    for i in range(paddle.to_tensor(n)):
        total = total + x * i
    return total


@snippet(
    ([0.0, 0.0, 0.0, 0.0], [1.5]),
)
def writes_into_a_tensor(x, s):
    out = x * 1
    for i in range(paddle.to_tensor(4)):
        out[i] = s[0] * i
    return out * 2


@snippet(([1.0, 2.0],), ([7.0, 2.0],))
def lists_as_state(x):
    state = [x, x * 0]
    while state[0].sum() < 20:
        state = [state[0] * 2, state[1] + state[0]]
    return state[0] + state[1]


@snippet(([1.0, 2.0],), ([7.0, 2.0],))
def list_elements_in_a_loop(x):
    state = [x, x * 0]
    i = paddle.to_tensor(0)
    while i < 3:
        state[0] = state[0] * 2
        if state[0].sum() > 10:
            state[1] = state[1] + state[0]
        i += 1
    return state[0] + state[1]


@snippet(([6],), ([27],), ([1],))
def collatz(n):
    steps = paddle.zeros([], "int64")
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@snippet(([2.0],), ([9.0],))
def newton(a):
    x = a
    while True:
        better = 0.5 * (x + a / x)
        if (better - x).abs() < 1e-4:
            break
        x = better
    return better
