"""`proa export edge`: a folder for phones and small boards, run by ONNX Runtime without Python.

`package.py` puts it together: the model in ONNX Runtime's own format (`ort_format.py`), inputs with the results that are
right for them (`vectors.py`), and runners with instructions (`assets/`). Why this runtime: docs/edge.md.
"""
