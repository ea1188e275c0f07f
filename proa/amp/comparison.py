"""`compare_accuracy`: two runs side by side, from what a tensor checker wrote about each.

The runs are paired call by call of each operator. The table goes into a workbook (`.xlsx`) or a text table (`.csv`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..core.errors import value_error

_LINE = re.compile(
    r"\[PRECISION\] (?P<bad>\[ERROR\] )?in \[device=(?P<device>[^,]*), op=(?P<op>[^,]*), tensor=(?P<tensor>[^,]*), "
    r"dtype=(?P<dtype>[^\]]*)\], (?P<figures>.*)"
)
_FIGURES = ("numel", "num_nan", "num_inf", "num_zero", "max", "min", "mean")


def compare_accuracy(
    dump_path: str,
    another_dump_path: str,
    output_filename: str,
    loss_scale: float = 1,
    dump_all_tensors: bool = False,
) -> None:
    """Writes a table of two runs, dumped by a `TensorCheckerConfig` with `output_dir`: what differs, and where.

    Args:
        dump_path: the folder of the first run.
        another_dump_path: the folder of the second run.
        output_filename: the table's file.
        loss_scale: numbers of the second run are divided by it.
        dump_all_tensors: must be False: values of whole tensors are not dumped.

    Raises:
        ValueError: an option is not supported.

    Examples:
        >>> import os
        >>> from proa.amp import debugging
        >>> for run in ("float32", "bfloat16"):
        ...     config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_ALL, output_dir=run)
        ...     debugging.enable_tensor_checker(config)
        ...     _ = (paddle.ones([2, 2], dtype=run) * 3).numpy()
        ...     debugging.disable_tensor_checker()
        >>> debugging.compare_accuracy("float32", "bfloat16", "table.xlsx")
        >>> os.path.exists("table.xlsx")
        True
    """
    if dump_all_tensors:
        raise value_error("compare_accuracy", "whole tensors are not dumped", "dump_all_tensors=True", "leave it False")
    if not loss_scale:
        raise value_error("compare_accuracy", "loss_scale must not be 0", f"{loss_scale}")
    first, second = (_read(path) for path in (dump_path, another_dump_path))
    header = ["op", "call", "verdict"]
    for run in ("first", "second"):
        header += [f"{run} {column}" for column in ("dtype", *_FIGURES)]
    rows: list[list[Any]] = [header]
    for key in [*first, *(key for key in second if key not in first)]:
        a, b = first.get(key), second.get(key)
        if b is not None and loss_scale != 1:
            b = {**b, **{name: b[name] / loss_scale for name in ("max", "min", "mean") if name in b}}
        cells = [[run.get(column, "") if run else "" for column in ("dtype", *_FIGURES)] for run in (a, b)]
        rows.append([key[0], key[1], _verdict(a, b), *cells[0], *cells[1]])
    _write(Path(output_filename), rows)


def _read(path: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Calls by operator and number, from all files of a folder."""
    folder = Path(path)
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    if not files:
        raise value_error(
            "compare_accuracy", "there is no dump in this folder", f"{path!r}",
            "run with TensorCheckerConfig(output_dir=…, debug_mode=DebugMode.CHECK_ALL)",
        )  # fmt: skip
    found: dict[tuple[str, int], dict[str, Any]] = {}
    calls: dict[str, int] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            match = _LINE.match(line)
            if match is None:
                continue
            name = match["op"]
            entry: dict[str, Any] = {"dtype": match["dtype"], "bad": bool(match["bad"])}
            for pair in match["figures"].split(", "):
                figure, _, number = pair.partition("=")
                entry[figure] = float(number)
            found[name, calls.get(name, 0)] = entry
            calls[name] = calls.get(name, 0) + 1
    return found


def _verdict(a: dict[str, Any] | None, b: dict[str, Any] | None) -> str:
    if a is None or b is None:
        return "only in the second run" if a is None else "only in the first run"
    if a["bad"] != b["bad"]:
        return "overflow in the first run" if a["bad"] else "overflow in the second run"
    if a["bad"]:
        return "overflow in both runs"
    size = max(abs(a["max"]), abs(a["min"]), 1e-6)
    off = max(abs(a[name] - b[name]) for name in ("max", "min", "mean")) / size
    return f"differs by {off:.1%}" if off > 0.05 else "same"


def _write(path: Path, rows: list[list[Any]]) -> None:
    """The table in a file that appears whole or not at all."""
    import csv
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
    os.close(handle)
    try:
        if path.suffix == ".csv":
            with open(name, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)
        else:
            _write_workbook(name, rows)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName='
    '"/xl/worksheets/sheet1.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="accuracy" sheetId="1" r:id="rId1"/></sheets></workbook>',
}


def _write_workbook(name: str, rows: list[list[Any]]) -> None:
    import zipfile

    def cell(value: Any) -> str:
        if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
            return f"<c><v>{value!r}</v></c>"
        text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f'<c t="inlineStr"><is><t>{text}</t></is></c>'

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    sheet = (
        f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{body}</sheetData>'
        "</worksheet>"
    )
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
            archive.writestr(part, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{text}')
