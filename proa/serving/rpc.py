"""The Open Inference Protocol over gRPC: messages become calls of `Service` and back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import numpy as np

from .datatypes import NUMBERS, checked_shape, from_bytes, from_numbers, to_bytes
from .guard import OPEN_METHODS, check_token
from .messages import MESSAGES, METHODS, SERVICE
from .refusals import Kind, Refused, bad_request
from .service import Answer, Question, Service, refuse_not_offered, seconds_of
from .signature import Signature

logger = logging.getLogger("proa.serving")

# Where the numbers of a tensor are when they are not raw bytes.
_CONTENTS = {
    "BOOL": "bool_contents", "UINT8": "uint_contents", "UINT16": "uint_contents", "UINT32": "uint_contents",
    "UINT64": "uint64_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents",
    "INT64": "int64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents",
}  # fmt: skip


class Malformed:
    """Stands for a message that is none."""


class Methods:
    """The methods of the service, by their names."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def handler(self) -> Any:
        """What a gRPC server is given."""
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                self._guarded(name, getattr(self, _spelled(name)), response),
                request_deserializer=_reader(request),
                response_serializer=response.SerializeToString,
            )
            for name, (request, response) in METHODS.items()
        }
        handlers["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(
            self.model_stream_infer,
            request_deserializer=_reader(MESSAGES["ModelInferRequest"]),
            response_serializer=MESSAGES["ModelStreamInferResponse"].SerializeToString,
        )
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    def _guarded(self, name: str, method: Callable[[Any, Any], Awaitable[Any]], response: Any) -> Any:
        async def answer(request: Any, context: Any) -> Any:
            try:
                self._check(name, request, context)
                found = await method(request, context)
                return response(**found) if isinstance(found, dict) else found
            except Refused as refused:
                await context.abort(_code(refused.kind), str(refused))
            except Exception as error:
                logger.exception("gRPC %s failed", name)
                await context.abort(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {str(error)[:300]}")

        return answer

    def _check(self, name: str, request: Any, context: Any) -> None:
        if name not in OPEN_METHODS:
            check_token(dict(context.invocation_metadata()).get("authorization"), self._service.settings.tokens)
        if isinstance(request, Malformed):
            raise bad_request("the message cannot be read.")

    # ---- results -----------------------------------------------------------------------------------------------------

    async def model_infer(self, request: Any, context: Any) -> Any:
        service = self._service
        if service.draining:
            raise Refused(Kind.BUSY, "the server is about to stop.")
        remaining = context.time_remaining()

        def understand(signature: Signature) -> Question:
            question = read_question(request, signature)
            if remaining is not None:
                question.timeout = remaining if question.timeout is None else min(question.timeout, remaining)
            return question

        with service.memory.admitted(request.ByteSize()):
            answer = await service.infer("grpc", request.model_name, request.model_version, understand)
        return write_answer(answer)

    async def model_stream_infer(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """Answers in the order of the requests; a refused one is told and does not end the stream."""
        response = MESSAGES["ModelStreamInferResponse"]
        try:
            self._check("ModelStreamInfer", None, context)
        except Refused as refused:
            await context.abort(_code(refused.kind), str(refused))
        async for request in _until(self._service.stopping, requests):
            try:
                self._check("ModelStreamInfer", request, context)
                yield response(infer_response=await self.model_infer(request, context))
            except Refused as refused:
                told = MESSAGES["ModelInferResponse"](id="" if isinstance(request, Malformed) else request.id)
                yield response(error_message=str(refused), infer_response=told)

    # ---- questions ---------------------------------------------------------------------------------------------------

    async def server_live(self, _request: Any, _context: Any) -> dict[str, Any]:
        return {"live": True}

    async def server_ready(self, _request: Any, _context: Any) -> dict[str, Any]:
        return {"ready": self._service.ready}

    async def model_ready(self, request: Any, _context: Any) -> dict[str, Any]:
        return {"ready": self._service.is_model_ready(request.name, request.version)}

    async def server_metadata(self, _request: Any, _context: Any) -> dict[str, Any]:
        return self._service.server_metadata()

    async def model_metadata(self, request: Any, _context: Any) -> dict[str, Any]:
        return self._service.model_metadata(request.name, request.version)

    async def model_config(self, request: Any, _context: Any) -> dict[str, Any]:
        config = self._service.model_config(request.name, request.version)
        for port in config["input"] + config["output"]:
            port["data_type"] = NUMBERS[port["data_type"].removeprefix("TYPE_")]
        return {"config": config}

    async def model_statistics(self, request: Any, _context: Any) -> dict[str, Any]:
        found = self._service.statistics(request.name, request.version)
        return {"model_stats": [{k: v for k, v in each.items() if k != "waiting"} for each in found]}

    async def repository_index(self, request: Any, _context: Any) -> dict[str, Any]:
        return {"models": self._service.repository.index(request.ready)}

    async def repository_model_load(self, request: Any, _context: Any) -> dict[str, Any]:
        await self._service.load(request.model_name, request.parameters)
        return {}

    async def repository_model_unload(self, request: Any, _context: Any) -> dict[str, Any]:
        await self._service.unload(request.model_name)
        return {}


async def _until(stopping: asyncio.Event, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The requests of a stream, until it ends or the server is about to stop: an idle stream would never end by itself."""
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        while not stopping.is_set():
            reading = asyncio.ensure_future(anext(aiter(requests), None))
            await asyncio.wait((reading, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                reading.cancel()
                return
            request = reading.result()
            if request is None:
                return
            yield request
    finally:
        stopped.cancel()


def read_question(request: Any, signature: Signature) -> Question:
    """What a message asks for; Refused where it cannot be understood."""
    parameters = _parameters(request)
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise bad_request(f"{len(request.inputs)} inputs need as many raw_input_contents; received {len(raw)}.")
    inputs: dict[str, np.ndarray] = {}
    for index, given in enumerate(request.inputs):
        _parameters(given)
        if given.name in inputs:
            raise bad_request(f"the input {given.name[:80]} comes twice.")
        datatype = signature.input(given.name, given.datatype).datatype
        shape = checked_shape(list(given.shape), given.name)
        if raw:
            inputs[given.name] = from_bytes(raw[index], datatype, shape, given.name)
        elif datatype not in _CONTENTS:
            raise bad_request(f"input {given.name}: {datatype} travels in raw_input_contents only.")
        else:
            numbers = list(getattr(given.contents, _CONTENTS[datatype]))
            dtype = signature.input(given.name, given.datatype).dtype
            inputs[given.name] = from_numbers(numbers, dtype, datatype, shape, given.name)
    for wanted in request.outputs:
        _parameters(wanted)
    outputs = [(wanted.name, True) for wanted in request.outputs]
    return Question(inputs, outputs, True, request.id, seconds_of(parameters.get("timeout")))


def _parameters(message: Any) -> dict[str, Any]:
    found = {
        name: getattr(value, value.WhichOneof("parameter_choice") or "", None)
        for name, value in message.parameters.items()
    }
    refuse_not_offered(found)
    return found


def write_answer(answer: Answer) -> Any:
    response = MESSAGES["ModelInferResponse"](
        model_name=answer.version.name, model_version=answer.version.version, id=answer.question.id
    )
    for port, array, _ in answer.outputs:
        response.outputs.add(name=port.name, datatype=port.datatype, shape=array.shape)
        response.raw_output_contents.append(to_bytes(array, port.datatype))
    return response


def _reader(message: Any) -> Callable[[bytes], Any]:
    """Bytes as a message; grpc itself would answer an unreadable one with an error of the server."""

    def read(data: bytes) -> Any:
        try:
            return message.FromString(data)
        except Exception:
            return Malformed()

    return read


def _code(kind: Kind) -> Any:
    return getattr(grpc.StatusCode, kind.code)


def _spelled(name: str) -> str:
    """ModelInfer as model_infer."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
