"""Chat templates: what they may do, and what hostile ones may not."""

from __future__ import annotations

import json
import threading
import time
import tracemalloc
from types import SimpleNamespace

import pytest

from proa.llm.tokens import ChatTemplate

USER = [{"role": "user", "content": "Hello"}]
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def render(source, messages=USER, **values):
    return ChatTemplate(source).render(messages, **values)


def test_a_usual_template():
    messages = [{"role": "system", "content": "Be brief."}, *USER]
    expected = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
    assert render(CHATML, messages) == expected + "<|im_start|>assistant\n"
    assert render(CHATML, messages, add_generation_prompt=False) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ {'b': '<é>', 'a': [1, none, true]} | tojson }}", '{"b": "<é>", "a": [1, null, true]}'),
        ("{{ {'b': 1, 'a': 2} | tojson(indent=2, sort_keys=true) }}", json.dumps({"a": 2, "b": 1}, indent=2)),
        ("{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% if i > 3 %}{% break %}{% endif %}"
         "{% endfor %}", "0134"),
        ("{% set ns = namespace(n=0) %}{% for i in range(5) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "10"),
        ("{% macro f(x, y=2) %}[{{ x * y }}]{% endmacro %}{{ f(3) }}{{ f('a', 3) }}", "[6][aaa]"),
        ("{{ 'a,b'.split(',') | join('-') }}{{ ' x ' | trim }}{{ 'abc'[1:] }}{{ 'abc'[::-1] }}", "a-bxbccba"),
        ("{% generation %}{{ messages[0].content }}{% endgeneration %}!", "Hello!"),
        ("{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list | length }}", "1"),
        ("{% for k, v in {'x': 1}.items() %}{{ k }}={{ v }}{% endfor %}", "x=1"),
        ("{{ messages[0].get('none', 'other') }}{{ messages[0].none is defined }}{{ x is not defined }}", "otherFalseTrue"),
        ("{{ 'Hello' in messages[0].content and 'user' == messages[0].role }}{{ 3 in [1, 2] }}", "TrueFalse"),
        ("{{ '%s-%d' % ('a', 3) }}{{ '{}:{x}'.format('a', x=1) }}{{ 7 // 2 }}{{ 2 ** 8 }}{{ 'a' ~ 1 ~ none }}",
         "a-3a:13256a1None"),
        ("{%- if true -%}\n  a\n{%- endif %}\n  {% if true %}\nb\n  {% endif %}", "ab\n"),
        ("{{ 'a\nb' | indent(2) }}{{ 'aXb' | replace('X', '--') }}{{ 'aXb'.replace('X', '') }}", "a\n  ba--bab"),
        ("{% macro f() %}{{ caller(1) }}{% endmacro %}{% call(x) f() %}{{ x }}{% endcall %}", "1"),
        ("{% set x %}<{{ 1 }}>{% endset %}{{ x | upper }}{{ [3, 1, 2] | sort | first }}{{ {'a': {'b': 1}}['a']['b'] }}",
         "<1>11"),
        ("{{ [[1, [2]], {'a': (3,)}] }}{{ none }}{{ 1.5 | int }}{{ '7' | int + 1 }}{{ undefined_name }}",
         "[[1, [2]], {'a': (3,)}]None18"),
        ("{{ tools is none }}{{ documents is none }}{{ messages | tojson }}",
         'TrueTrue[{"role": "user", "content": "Hello"}]'),
    ],
)  # fmt: skip
def test_what_templates_use(source, expected):
    assert render(source) == expected


def test_dates_and_variables():
    assert render("{% set ns = namespace(x=[1]) %}{{ ns }}") == "<Namespace>"
    assert render("{{ strftime_now('%Y') }}").isdigit()
    assert render("{{ enable_thinking }}{{ bos_token }}", enable_thinking=False, bos_token="<s>") == "False<s>"


def test_messages_of_other_types():
    """Mappings, tuples, numbers that only look plain, and the objects of clients."""
    message = SimpleNamespace(model_dump=lambda: {"role": "user", "content": "Hello"})
    assert render("{{ messages[0].content }}", (message,)) == "Hello"
    assert render("{{ n + 1 }}{{ t }}", n=__import__("numpy").float64(1), t=("a",)) == "2.0['a']"


# ---- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("messages", ["Hello", {"role": "user"}, None, 3, ["Hello"], [None]])
def test_what_is_no_conversation(messages):
    with pytest.raises(TypeError, match="message"):
        render(CHATML, messages)


def test_values_that_templates_may_not_see():
    with pytest.raises(TypeError, match=r"texts, numbers, lists and dictionaries; received object"):
        render(CHATML, [{"role": "user", "content": object()}])
    nested = []
    nested.append(nested)
    with pytest.raises(ValueError, match="64 deep"):
        render(CHATML, [{"role": "user", "content": nested}])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ raise_exception('roles must alternate') }}", "gives up: roles must alternate;"),
        ("{% if %}", r"\(line 1\)"),
        ("\n\n{{ messages[0].content", r"\(line 3\)"),
        ("{{ x.y.z }}", "undefined"),
        ("{{ 1 / 0 }}", "zero"),
        ("{% include 'x' %}", "loader"),
        ("{{ 'a' | no_such_filter }}", "no_such_filter"),
        ("{{ 'a' | center(10) }}", "center"),
        ("x" * 1_000_001, "1000001 characters"),
    ],
)
def test_failures_are_explained(source, reason):
    with pytest.raises(ValueError, match=reason):
        render(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'a': 1}) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ range.__class__ }}{{ (range | attr('__class__')) }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ '%s' | format(1) }}",
        "{% set ns = namespace(_x=1) %}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{{ raise_exception.__globals__ }}",
        "{{ dict.__subclasses__() }}",
        "{{ self._TemplateReference__context.environment.compile('x') }}",
        "{{ messages[0].items().__class__.mro() }}",
        "{{ joiner.__init__.__globals__['os'] }}",
        "{{ environment }}{{ strftime_now.__code__ }}",
        "{{ self.__init__.__globals__ }}",
    ],
)
def test_the_inner_life_of_python_is_out_of_reach(source):
    try:
        found = render(source)
    except ValueError:
        return
    assert found == ""  # what cannot be reached is undefined, and shown as nothing


LAUGH = "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
LAUGH_OF_TUPLES = LAUGH.replace("[1]", "(1,)").replace("[ns.x, ns.x]", "(ns.x, ns.x)")
TWO_LAUGHS = LAUGH + LAUGH.replace("ns.", "other.").replace("set ns", "set other")


def growing(expression, first="a"):
    return f"{{% set ns = namespace(x='{first}') %}}{{% for i in range(99) %}}{{% set ns.x = {expression} %}}{{% endfor %}}"


BOMBS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops with conditions": "{% for a in range(99999) if range(99999) | list | length < 0 %}{% endfor %}",
    "recursion": "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
    "two recursions": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "recursive loop": "{% for x in [[1]] recursive %}{{ loop([x, x]) }}{% endfor %}",
    "long text": "{{ 'a' * 10000000000 }}",
    "long text the other way": "{{ 10000000000 * 'a' }}",
    "long list": "{{ ([0] * 10000000000) | length }}",
    "large number": "{{ 9 ** (9 ** 9) }}",
    "large number by products": growing("ns.x * ns.x").replace("'a'", "7"),
    "doubling": growing("ns.x + ns.x", "a"),
    "doubling by ~": growing("ns.x ~ ns.x", "a"),
    "doubling by replace": growing("ns.x.replace('a', 'aaaa')", "a"),
    "doubling by a filter": growing("ns.x | replace('', 'aa')", "a"),
    "doubling by join": growing("ns.x | join(ns.x)", "ab"),
    "doubling by a method": growing("ns.x.join([ns.x, ns.x])", "ab"),
    "doubling by a block": "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set t %}{{ ns.x }}{{ ns.x }}"
    "{% endset %}{% set ns.x = t %}{% endfor %}",
    "doubling by %": growing("'%s%s' % (ns.x, ns.x)", "a"),
    "doubling by format": growing("'{0}{0}'.format(ns.x)", "a"),
    "many copies in a list": "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}"
    "{% set ns.x = ns.x + ['a' * 99999] %}{% endfor %}",
    "slices in a list": "{% set s = 'a' * 999999 %}{% set ns = namespace(x=[]) %}{% for i in range(99999) %}"
    "{% set ns.x = [ns.x, s[1:]] %}{% endfor %}",
    "wide field": "{{ '%1000000000d' % 1 }}",
    "wide field by argument": "{{ '%*d' % (1000000000, 1) }}",
    "wide format": "{{ '{:1000000000}'.format(1) }}",
    "wide format by argument": "{{ '{:{}}'.format(1, 1000000000) }}",
    "width": "{{ 'a'.ljust(10000000000) }}{{ 'a'.zfill(10000000000) }}{{ 'a'.center(10000000000) }}",
    "tabs": "{{ '\t'.expandtabs(10000000000) }}",
    "bytes": "{{ (1).to_bytes(10000000000, 'big') }}",
    "translate": "{{ ('a' * 99999).translate({97: 'b' * 99999}) }}",
    "indent": "{{ 'a\nb' | indent(10000000000) }}",
    "json indent": "{{ [1] | tojson(indent=10000000000) }}",
    "date": "{{ strftime_now('%1000000000Y') }}",
    "laughs": LAUGH + "{{ ns.x }}",
    "laughs as json": LAUGH + "{{ ns.x | tojson }}",
    "laughs as text": LAUGH + "{{ ns.x ~ '' }}",
    "laughs joined": LAUGH + "{{ ns.x | join }}",
    "laughs compared": TWO_LAUGHS + "{{ ns.x == other.x }}",
    "laughs tested": TWO_LAUGHS + "{{ ns.x is eq(other.x) }}",
    "laughs sorted": TWO_LAUGHS + "{{ [ns.x, other.x] | sort | length }}",
    "laughs as a key": LAUGH_OF_TUPLES + "{{ {ns.x: 1} }}",
    "laughs looked up": LAUGH_OF_TUPLES + "{{ {}[ns.x] }}",
    "laughs asked for": LAUGH_OF_TUPLES + "{{ {}.get(ns.x) }}",
    "laughs in %": LAUGH + "{{ '%s' % (ns.x,) }}",
    "laughs in format": LAUGH + "{{ '{}'.format(ns.x) }}",
    "laughs at an exception": LAUGH + "{{ raise_exception(ns.x) }}",
    "laughs through a filter": LAUGH + "{{ ns.x | upper }}",
    "laughs mapped": LAUGH + "{{ [ns.x] | map('trim') | list | length }}",
    "laughs selected": TWO_LAUGHS + "{{ [ns.x] | select('eq', other.x) | list | length }}",
    "laughs changed": TWO_LAUGHS + "{% for i in [ns.x, other.x] %}{{ loop.changed(i) }}{% endfor %}",
    "laughs as items": LAUGH + "{{ {'a': ns.x}.items() }}",
    "many pieces": "{{ ('ab ' * 4000000).split() | length }}",
    "many signs": "{{ ('世' * 4000000) | list | length }}",
    "deep brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "deep lists": "{{ " + "[" * 3000 + "]" * 3000 + " }}",
    "deep blocks": "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "long constant": "{% macro f() %}{% for i in range(9999) %}" + "x" * 9999 + "{% endfor %}{% endmacro %}{{ f()[:9] }}",
    "much output": "{% for i in range(99999) %}" + "x" * 50_000 + "{% endfor %}",
    "words": "{{ lipsum(100000) }}",
    "fill": "{{ [1] | batch(10000000000, 0) | list }}",
    "sums": "{{ ([[0] * 9999] * 9999) | sum(start=[]) }}",
    "long names": "{{ ('a' * 60000000) | upper | lower | title | capitalize | trim }}",
}  # fmt: skip


@pytest.mark.parametrize("name", list(BOMBS))
def test_bombs_are_stopped(name):
    """At once, and in little memory."""
    template = ChatTemplate(BOMBS[name], most_characters=2**22, most_rounds=20_000, most_seconds=3)
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises(ValueError, match="gives up"):
        template.render(USER)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert time.perf_counter() - started < 20


def test_the_usual_limits_are_limits_too():
    for name in ("loops", "doubling by ~", "much output"):
        with pytest.raises(ValueError, match="gives up"):
            render(BOMBS[name])


def test_time_is_a_limit():
    template = ChatTemplate(BOMBS["two recursions"], most_rounds=10**12, most_characters=10**12, most_seconds=0.3)
    started = time.perf_counter()
    with pytest.raises(ValueError, match="takes too long"):
        template.render(USER)
    assert time.perf_counter() - started < 10


def test_large_conversations_are_no_bombs():
    """Two million characters in a thousand messages, as a template of the larger kind treats them."""
    source = (
        "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}"
        "{% endif %}{% endfor %}{% for m in messages %}{% set content = m.content | trim %}{% if '</think>' in content %}"
        "{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}"
        "{{ '<|im_start|>' + m.role + '\n' + content + '<|im_end|>' + '\n' }}{% endfor %}{{ messages | length }}"
    )
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 400} for n in range(1000)]
    started = time.perf_counter()
    found = render(source, messages)
    assert len(found) > 2_000_000
    assert time.perf_counter() - started < 5


def test_many_threads_have_budgets_of_their_own():
    bomb, results = BOMBS["doubling"], []

    def work(number):
        for _ in range(20):
            try:
                results.append(render(bomb if number % 2 else CHATML))
            except ValueError:
                results.append(None)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(None) == 80
    assert results.count("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n") == 80
