"""The protocol's gRPC messages: the `.proto` of the Open Inference Protocol as a table, built by protobuf at import.

They live in a pool of their own: a process may also have loaded a client's messages of the same names. What a caller sends
beyond these fields is skipped, as protobuf does with fields that it does not know.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "inference"
SERVICE = f"{PACKAGE}.GRPCInferenceService"

# A message, then its fields: number, name, type. `*` repeats, `map<T>` has texts as keys, `|` are members of a oneof.
_TABLE = """
ServerLiveRequest
ServerLiveResponse: 1 live bool
ServerReadyRequest
ServerReadyResponse: 1 ready bool
ModelReadyRequest: 1 name string, 2 version string
ModelReadyResponse: 1 ready bool
ServerMetadataRequest
ServerMetadataResponse: 1 name string, 2 version string, 3 extensions *string
ModelMetadataRequest: 1 name string, 2 version string
ModelMetadataResponse: 1 name string, 2 versions *string, 3 platform string, 4 inputs *.TensorMetadata,
    5 outputs *.TensorMetadata
ModelMetadataResponse.TensorMetadata: 1 name string, 2 datatype string, 3 shape *int64
InferParameter: 1 bool_param |bool, 2 int64_param |int64, 3 string_param |string, 4 double_param |double,
    5 uint64_param |uint64
InferTensorContents: 1 bool_contents *bool, 2 int_contents *int32, 3 int64_contents *int64, 4 uint_contents *uint32,
    5 uint64_contents *uint64, 6 fp32_contents *float, 7 fp64_contents *double, 8 bytes_contents *bytes
ModelInferRequest: 1 model_name string, 2 model_version string, 3 id string, 4 parameters map<InferParameter>,
    5 inputs *.InferInputTensor, 6 outputs *.InferRequestedOutputTensor, 7 raw_input_contents *bytes
ModelInferRequest.InferInputTensor: 1 name string, 2 datatype string, 3 shape *int64, 4 parameters map<InferParameter>,
    5 contents InferTensorContents
ModelInferRequest.InferRequestedOutputTensor: 1 name string, 2 parameters map<InferParameter>
ModelInferResponse: 1 model_name string, 2 model_version string, 3 id string, 4 parameters map<InferParameter>,
    5 outputs *.InferOutputTensor, 6 raw_output_contents *bytes
ModelInferResponse.InferOutputTensor: 1 name string, 2 datatype string, 3 shape *int64, 4 parameters map<InferParameter>,
    5 contents InferTensorContents
ModelStreamInferResponse: 1 error_message string, 2 infer_response ModelInferResponse
ModelConfigRequest: 1 name string, 2 version string
ModelConfigResponse: 1 config ModelConfig
ModelConfig: 1 name string, 2 platform string, 17 backend string, 4 max_batch_size int32, 5 input *ModelInput,
    6 output *ModelOutput, 11 dynamic_batching ModelDynamicBatching, 7 instance_group *ModelInstanceGroup
ModelInput: 1 name string, 2 data_type int32, 4 dims *int64
ModelOutput: 1 name string, 2 data_type int32, 3 dims *int64
ModelDynamicBatching: 1 preferred_batch_size *int32, 2 max_queue_delay_microseconds uint64
ModelInstanceGroup: 1 name string, 2 count int32
ModelStatisticsRequest: 1 name string, 2 version string
ModelStatisticsResponse: 1 model_stats *ModelStatistics
ModelStatistics: 1 name string, 2 version string, 3 last_inference uint64, 4 inference_count uint64,
    5 execution_count uint64, 6 inference_stats InferStatistics, 7 batch_stats *InferBatchStatistics
InferStatistics: 1 success StatisticDuration, 2 fail StatisticDuration, 3 queue StatisticDuration,
    4 compute_input StatisticDuration, 5 compute_infer StatisticDuration, 6 compute_output StatisticDuration
InferBatchStatistics: 1 batch_size uint64, 3 compute_infer StatisticDuration
StatisticDuration: 1 count uint64, 2 ns uint64
RepositoryIndexRequest: 1 repository_name string, 2 ready bool
RepositoryIndexResponse: 1 models *.ModelIndex
RepositoryIndexResponse.ModelIndex: 1 name string, 2 version string, 3 state string, 4 reason string
ModelRepositoryParameter: 1 bool_param |bool, 2 int64_param |int64, 3 string_param |string, 4 bytes_param |bytes
RepositoryModelLoadRequest: 1 repository_name string, 2 model_name string, 3 parameters map<ModelRepositoryParameter>
RepositoryModelLoadResponse
RepositoryModelUnloadRequest: 1 repository_name string, 2 model_name string, 3 parameters map<ModelRepositoryParameter>
RepositoryModelUnloadResponse
"""
_FIELD = descriptor_pb2.FieldDescriptorProto


def _messages() -> dict[str, Any]:
    """The classes by name."""
    file = descriptor_pb2.FileDescriptorProto(name="proa/open_inference.proto", package=PACKAGE, syntax="proto3")
    made: dict[str, Any] = {}
    for line in re.sub(r",\n +", ", ", _TABLE.strip()).splitlines():
        title, _, fields = line.partition(": ")
        outer, _, inner = title.partition(".")
        message = made[outer].nested_type.add(name=inner) if inner else file.message_type.add(name=outer)
        made[title] = message
        for field in filter(None, fields.split(", ")):
            _add_field(message, title, *field.split(" "))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        title: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{title}"))
        for title in made
        if "." not in title
    }


def _add_field(message: Any, title: str, number: str, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=int(number), label=_FIELD.LABEL_OPTIONAL)
    if kind.startswith("map<"):
        entry = message.nested_type.add(name="".join(part.title() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        _add_field(entry, "", "1", "key", "string")
        _add_field(entry, "", "2", "value", kind[4:-1])
        field.label, kind = _FIELD.LABEL_REPEATED, f".{entry.name}"
    elif kind.startswith("*"):
        field.label, kind = _FIELD.LABEL_REPEATED, kind[1:]
    elif kind.startswith("|"):
        if not message.oneof_decl:
            message.oneof_decl.add(name="parameter_choice")
        field.oneof_index, kind = 0, kind[1:]
    scalar = getattr(_FIELD, f"TYPE_{kind.upper()}", None)
    if scalar is not None:
        field.type = scalar
    else:
        field.type = _FIELD.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{title.partition('.')[0] if kind.startswith('.') else ''}{kind}"
        if kind.startswith(".") and kind.endswith("Entry"):
            field.type_name = f".{PACKAGE}.{title}{kind}"


MESSAGES = _messages()
# Method: request, response. The stream is added by rpc.py.
METHODS = {
    name: (MESSAGES[f"{name}Request"], MESSAGES[f"{name}Response"])
    for name in (
        "ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer", "ModelConfig",
        "ModelStatistics", "RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload",
    )
}  # fmt: skip
