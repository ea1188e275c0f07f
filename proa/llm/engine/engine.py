"""The engine: requests come in from any thread, one thread of its own runs steps, streams carry tokens out.

A round of that thread: cancelled requests leave, waiting ones are let in, one chunk of prompts is read, one token (or a few
guessed ones) is computed for every sequence that is past its prompt. So a long prompt delays others by one chunk at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.errors import message, type_error, value_error
from ...core.locks import new_condition
from ...core.tracebacks import boundary
from ..model import CausalLM
from .adapters import Adapters
from .cache import bytes_of, make_pools, multiplies_blocks, pool_shapes, usual_dtype
from .choices import Choices
from .exact import check_exact
from .ggml import check_model
from .grammar import Guides
from .options import Options
from .pages import PagePool
from .request import Request
from .rounds import Rounds
from .scheduler import Scheduler
from .sequence import Sequence
from .steps import Shape, Steps
from .stream import Stream

_LONGEST = 8192
_LEAST_WIDTH = 8  # pages


class Busy(RuntimeError):
    """More requests wait than the engine was set up for: try again later."""


class Engine:
    """Generates from a model. The model's weights are read at every step; it must not be trained meanwhile."""

    @boundary
    def __init__(
        self, model: CausalLM, tokenizer: Any = None, options: Options | None = None, draft: CausalLM | None = None
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.options = options = options or Options()
        if options.speculate and options.speculation == "draft" and draft is None:
            raise value_error("Engine", "speculation='draft' needs a draft model", fix="Engine(…, draft=model)")
        if draft is not None and draft.config.vocab_size != model.config.vocab_size:
            raise value_error("Engine", "the draft model must have the model's vocabulary",
                              f"{draft.config.vocab_size} and {model.config.vocab_size} tokens")  # fmt: skip
        if options.exact:
            check_exact(model)
            if options.adapters or options.cache_dtype == "int8":
                raise value_error("Engine", "exact programs know no adapters and no cache in 8 bits", f"{options}")
        if options.arithmetic:
            for each in (model, draft):
                if each is not None:
                    check_model(each, options.cache_dtype)
        self.context = min(options.context or _LONGEST, model.config.max_positions)
        size = options.page_size
        each = -(-self.context // size)
        self.pool = PagePool((options.pages or options.rows * each) + 1, size, options.prefixes)
        self.widths = _widths(each, options.widening)
        self.scheduler = Scheduler(self.pool, options.rows)
        self._choices = Choices(model.config.vocab_size, self.context, options.rows, options.exact)
        self.adapters = Adapters(model, options.adapters, options.adapter_rank)
        self.looks_ahead = not options.speculate and _looks_ahead(model, options)
        self.steps = self._steps_of(model, self.adapters if options.adapters else None)
        self.draft = self._steps_of(draft) if draft is not None and options.speculate else None
        self._guides = Guides(tokenizer, model.config.vocab_size)
        self._ends = frozenset(tokenizer.eos if tokenizer is not None else model.config.eos)
        self.rounds = Rounds(self)
        self._changed = new_condition()
        self._arrived: list[Sequence] = []
        self._number = 0
        self._closing: str | None = None  # "drain" or "now"
        self._thread: threading.Thread | None = None

    def _steps_of(self, model: CausalLM, adapters: Adapters | None = None) -> Steps:
        model.eval()
        dtype = self.options.cache_dtype or usual_dtype(model)
        shapes = pool_shapes(model.config, self.pool.pages, self.pool.page_size, dtype)
        arithmetic = "ggml" if self.options.arithmetic else self._choices.arithmetic
        # Activations are rounded to 8 bits, where a last bit may become a level: the rows beside a token must not change it.
        if not arithmetic and multiplies_blocks(model):
            arithmetic = "rows"
        per_layer = len(shapes) // model.config.layers
        return Steps(model, make_pools(shapes), per_layer, self._choices, adapters, arithmetic, self.looks_ahead)

    # ---- for users ----------------------------------------------------------------------------------

    @boundary
    def submit(self, request: Request) -> Stream:
        """Takes a request; its answer comes through the stream. ValueError for one that can never be answered, `Busy` for
        one that has to wait too long."""
        self._check(request)
        adapter, root = self.adapters.find(request.adapter)
        guide = None if request.sampling.grammar is None else self._guides.guide(request.sampling.grammar)
        sequence: Sequence
        stream = Stream(lambda: self._cancel(sequence))
        decoder = None if self.tokenizer is None else self.tokenizer.stream()
        with self._changed:
            if self._closing is not None:
                raise Busy(message("Engine", "the engine is closed"))
            if len(self._arrived) + len(self.scheduler.waiting) >= self.options.waiting:
                raise Busy(message("Engine", f"{self.options.waiting} requests wait already", fix="try again later"))
            sequence = Sequence(self._number, request, stream, decoder, self.context, adapter, root)
            sequence.guide = guide
            self._number += 1
            self._arrived.append(sequence)
            self._start()
            self._changed.notify_all()
        return stream

    def _check(self, request: Any) -> None:
        if not isinstance(request, Request):
            raise type_error("Engine.submit", "a Request is needed", type(request).__name__)
        prompt = [int(token) for token in request.prompt]
        vocabulary = self.model.config.vocab_size
        if not prompt or min(prompt) < 0 or max(prompt) >= vocabulary:
            raise value_error("Engine.submit", f"a prompt has tokens from 0 to {vocabulary - 1}, at least one",
                              f"{len(prompt)} tokens")  # fmt: skip
        if len(prompt) >= self.context:
            raise value_error("Engine.submit", f"the prompt leaves no room in a context of {self.context} tokens",
                              f"{len(prompt)} tokens", "shorten it, or set Options(context=…)")  # fmt: skip
        longest = min(len(prompt) + request.sampling.max_tokens, self.context)
        if -(-longest // self.pool.page_size) > self.pool.pages - 1:
            raise value_error("Engine.submit", f"the cache has {self.pool.pages - 1} pages of {self.pool.page_size} tokens",
                              f"{longest} tokens", "ask for fewer, or set Options(pages=…)")  # fmt: skip
        if any(not 0 <= token < vocabulary for token in request.sampling.logit_bias):
            raise value_error("Engine.submit", f"logit_bias names tokens from 0 to {vocabulary - 1}")

    @boundary
    def add_adapter(self, name: str, factors: Mapping[str, tuple[Any, Any]]) -> None:
        """Takes a LoRA adapter that requests may name. For projections, by their names in the model
        (`layers.0.attention.query`), the factors [in, rank] and [rank, out], the scale multiplied in. There is room for
        `Options.adapters` of them."""
        self.adapters.add(name, factors)

    @boundary
    def remove_adapter(self, name: str) -> None:
        """Forgets an adapter; no request that names it may be running."""
        _, root = self.adapters.find(name)
        with self._changed:
            if any(s.root == root for s in [*self._arrived, *self.scheduler.waiting, *self.scheduler.running]):
                raise value_error("Engine.remove_adapter", "requests with this adapter are running", repr(name))
            self.adapters.remove(name)

    def statistics(self) -> dict[str, Any]:
        """What the engine has done and has in hand."""
        pool, scheduler, rounds = self.pool, self.scheduler, self.rounds
        return {
            "running": len(scheduler.running), "waiting": len(scheduler.waiting) + len(self._arrived),
            "pages": pool.pages - 1, "pages_in_use": pool.in_use, "preemptions": scheduler.preemptions,
            "reused_tokens": scheduler.reused, "prompt_tokens": rounds.prompt_tokens,
            "generated_tokens": rounds.generated_tokens, "steps": rounds.steps, "finished": rounds.finished,
            "guessed_tokens": rounds.guessed, "accepted_tokens": rounds.accepted, "programs": len(self.steps.shapes),
            "cache_bytes": bytes_of([(pool._aval.shape, pool._aval.dtype) for pool in self.steps.pools]),
        }  # fmt: skip

    @boundary
    def warm_up(self, shapes: Iterable[Shape] | None = None) -> float:
        """Compiles the programs of all shapes that steps can have, or of those given; the seconds it took.

        Without it each is compiled when it is first needed, and that request waits.
        """
        begun = time.perf_counter()
        for shape in self.rounds.shapes() if shapes is None else shapes:
            self.rounds.warm_up(shape)
        return time.perf_counter() - begun

    @boundary
    def close(self, drain: bool = True, timeout: float | None = None) -> None:
        """Ends the engine: with `drain` when all answers are complete, otherwise at once. May be called again."""
        with self._changed:
            self._closing = "drain" if drain and self._closing in (None, "drain") else "now"
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        elif thread is None:
            self.steps.close()
        self._guides.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.close(drain=kind is None)

    # ---- the engine's own thread ----------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="proa-engine", daemon=True)
            self._thread.start()

    def _cancel(self, sequence: Sequence) -> None:
        with self._changed:
            sequence.cancelled = True
            self._changed.notify_all()

    def _work(self) -> None:
        while self._take_arrivals():
            try:
                self.rounds.run()
            except Exception as error:
                self._fail(error)
        self.steps.close()

    def _take_arrivals(self) -> bool:
        """Waits for something to do; False when the engine is to end."""
        with self._changed:
            while self._closing is None and not self._arrived and self.scheduler.is_idle:
                self._changed.wait()
            for sequence in self._arrived:
                self.scheduler.add(sequence)
            self._arrived.clear()
        if self._closing == "now":
            for sequence in [*self.scheduler.running, *self.scheduler.waiting]:
                self.rounds.finish(sequence, "cancelled")
        return not (self._closing is not None and self.scheduler.is_idle)

    def _fail(self, error: Exception) -> None:
        """A step went wrong: those in it end with the error. The pools may be lost with it, so all pages are new."""
        self.rounds.started, self.rounds.unread = None, []
        for sequence in list(self.scheduler.running):
            self.rounds.finish(sequence, "error", error)
        for steps in (self.steps, self.draft):
            if steps is not None:
                steps.renew(make_pools([(pool._aval.shape, pool._aval.dtype) for pool in steps.pools]))
        self.pool.forget()


def _looks_ahead(model: CausalLM, options: Options) -> bool:
    """Whether steps are started before the tokens of the last one are read: on a CPU both would wait for the same cores."""
    return model.norm.weight._aval.place.kind != "cpu" if options.ahead is None else options.ahead


def _widths(most: int, factor: int) -> tuple[int, ...]:
    """Widths of tables: the longest, and smaller ones by a factor each."""
    found = [most]
    while -(-found[0] // factor) >= _LEAST_WIDTH:
        found.insert(0, -(-found[0] // factor))
    return tuple(found)
