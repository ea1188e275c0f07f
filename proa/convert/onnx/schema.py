"""ONNX's messages as plain dictionaries for `formats/paddle/files/wire.py`: numbers of fields, their names and kinds.

Numbers that are packed (`float_data`, `double_data`) are taken as bytes: going through millions of them one by one would
take Python a minute. A file that holds them unpacked, which the format allows and no known writer does, is read again with
`UNPACKED_MODEL`.
"""

from __future__ import annotations

from ...formats.paddle.files.wire import Schema


def _model(floats: str, doubles: str) -> Schema:
    entry: Schema = {1: ("key", "string"), 2: ("value", "string")}
    tensor: Schema = {
        1: ("dims", "ints"), 2: ("data_type", "int"), 4: ("float_data", floats), 5: ("int32_data", "ints"),
        6: ("string_data", "bytess"), 7: ("int64_data", "ints"), 8: ("name", "string"), 9: ("raw_data", "bytes"),
        10: ("double_data", doubles), 11: ("uint64_data", "ints"), 13: ("external_data", [entry]),
        14: ("data_location", "int"),
    }  # fmt: skip
    sparse: Schema = {1: ("values", tensor), 2: ("indices", tensor), 3: ("dims", "ints")}
    dimension: Schema = {1: ("dim_value", "int"), 2: ("dim_param", "string")}
    kind: Schema = {}
    inner: Schema = {1: ("elem_type", kind)}
    kind.update({
        1: ("tensor_type", {1: ("elem_type", "int"), 2: ("shape", {1: ("dim", [dimension])})}),
        4: ("sequence_type", inner), 5: ("map_type", {}), 8: ("sparse_tensor_type", {}), 9: ("optional_type", inner),
    })  # fmt: skip
    value: Schema = {1: ("name", "string"), 2: ("type", kind)}
    graph: Schema = {}
    attribute: Schema = {
        1: ("name", "string"), 2: ("f", "float"), 3: ("i", "int"), 4: ("s", "bytes"), 5: ("t", tensor), 6: ("g", graph),
        7: ("floats", "floats"), 8: ("ints", "ints"), 9: ("strings", "bytess"), 10: ("tensors", [tensor]),
        11: ("graphs", [graph]), 20: ("type", "int"), 21: ("ref_attr_name", "string"), 22: ("sparse_tensor", sparse),
    }  # fmt: skip
    node: Schema = {
        1: ("input", "strings"), 2: ("output", "strings"), 3: ("name", "string"), 4: ("op_type", "string"),
        5: ("attribute", [attribute]), 7: ("domain", "string"), 8: ("overload", "string"),
    }  # fmt: skip
    graph.update({
        1: ("node", [node]), 2: ("name", "string"), 5: ("initializer", [tensor]), 11: ("input", [value]),
        12: ("output", [value]), 13: ("value_info", [value]), 15: ("sparse_initializer", [sparse]),
    })  # fmt: skip
    opset: Schema = {1: ("domain", "string"), 2: ("version", "int")}
    function: Schema = {
        1: ("name", "string"), 4: ("input", "strings"), 5: ("output", "strings"), 6: ("attribute", "strings"),
        7: ("node", [node]), 9: ("opset_import", [opset]), 10: ("domain", "string"),
        11: ("attribute_proto", [attribute]), 13: ("overload", "string"),
    }  # fmt: skip
    return {
        1: ("ir_version", "int"), 2: ("producer_name", "string"), 7: ("graph", graph), 8: ("opset_import", [opset]),
        25: ("functions", [function]),
    }  # fmt: skip


MODEL = _model("bytess", "bytess")
UNPACKED_MODEL = _model("floats", "doubles")

__all__ = ["MODEL", "UNPACKED_MODEL"]
