"""The messages of a `.pdmodel` file, for proa/formats/paddle/files/wire.py: field number -> (name, kind)."""

from __future__ import annotations

from proa.formats.paddle.files.wire import Schema

COMPLEX: Schema = {1: ("real", "double"), 2: ("imaginary", "double")}
SCALAR: Schema = {1: ("type", "int"), 2: ("b", "bool"), 3: ("i", "int"), 4: ("r", "double"), 5: ("c", COMPLEX)}
ATTRIBUTE: Schema = {
    1: ("name", "string"),
    2: ("type", "int"),
    3: ("i", "int"),
    4: ("f", "float"),
    5: ("s", "bytes"),
    6: ("ints", "ints"),
    7: ("floats", "floats"),
    8: ("strings", "bytess"),
    10: ("b", "bool"),
    11: ("bools", "bools"),
    12: ("block_idx", "int"),
    13: ("l", "int"),
    14: ("blocks_idx", "ints"),
    15: ("longs", "ints"),
    16: ("float64s", "doubles"),
    17: ("var_name", "string"),
    18: ("vars_name", "strings"),
    19: ("float64", "double"),
    20: ("scalar", SCALAR),
    21: ("scalars", [SCALAR]),
}
SLOT: Schema = {1: ("parameter", "string"), 2: ("arguments", "strings")}
OPERATION: Schema = {
    1: ("inputs", [SLOT]),
    2: ("outputs", [SLOT]),
    3: ("type", "string"),
    4: ("attrs", [ATTRIBUTE]),
    5: ("is_target", "bool"),
}
TENSOR: Schema = {1: ("data_type", "int"), 2: ("dims", "ints")}
DENSE: Schema = {1: ("tensor", TENSOR), 2: ("lod_level", "int")}
VARIABLE_TYPE: Schema = {1: ("type", "int"), 2: ("selected_rows", TENSOR), 3: ("dense", DENSE), 4: ("array", DENSE)}
VARIABLE: Schema = {
    1: ("name", "string"),
    2: ("type", VARIABLE_TYPE),
    3: ("persistable", "bool"),
    4: ("need_check_feed", "bool"),
    5: ("is_parameter", "bool"),
    6: ("stop_gradient", "bool"),
    7: ("attrs", [ATTRIBUTE]),
}
BLOCK: Schema = {
    1: ("idx", "int"),
    2: ("parent_idx", "int"),
    3: ("vars", [VARIABLE]),
    4: ("ops", [OPERATION]),
    5: ("forward_block_idx", "int"),
}
VERSION: Schema = {1: ("version", "int")}
OPERATION_VERSION: Schema = {1: ("op_name", "string"), 2: ("op_version", VERSION)}
OPERATION_VERSIONS: Schema = {1: ("pair", [OPERATION_VERSION])}
PROGRAM: Schema = {1: ("blocks", [BLOCK]), 4: ("version", VERSION), 5: ("op_version_map", OPERATION_VERSIONS)}

# What an attribute's type number says: where its value is.
ATTRIBUTE_FIELDS = {
    0: "i",
    1: "f",
    2: "s",
    3: "ints",
    4: "floats",
    5: "strings",
    6: "b",
    7: "bools",
    8: "block_idx",
    9: "l",
    10: "blocks_idx",
    11: "longs",
    12: "float64s",
    13: "var_name",
    14: "vars_name",
    15: "float64",
    16: "scalar",
    17: "scalars",
}
ATTRIBUTE_NUMBERS = {field: number for number, field in ATTRIBUTE_FIELDS.items()}

# Kinds of variables (VARIABLE_TYPE's "type").
DENSE_TENSOR, SELECTED_ROWS, FEED_LIST, FETCH_LIST, STEP_SCOPES, TENSOR_ARRAY, RAW = 7, 8, 9, 10, 11, 13, 17
