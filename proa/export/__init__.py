"""`proa export`: a saved model made ready for places without Python.

`web/` makes a folder for a static file server: the model runs in browsers. `edge/` makes one for phones and boards. Both
start from an ONNX file (`models.py`), which `proa.onnx` writes and has compared with the model. A folder appears whole or
not at all (`folders.py`).

Nothing here is imported by the rest of the package but the command line.
"""
